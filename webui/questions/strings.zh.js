/** Texts of tools' questions to the user, in Chinese. */
export const questions = {
  title: '向你提问',
  hostAsks: '提问的是机器“{host}”，你的回答会发给它。',
  yourAnswer: '你的回答',
  otherAnswer: '其他回答',
  answer: '回答',
  decline: '拒绝',
  openAddress: '打开此页面',
  opensAt: '将在新标签页中打开 {host}',
  addressDone: '已在那里完成',
  sampleAsked: '{module} 想让你的模型写一段文字。模型将收到：',
  sampleHint: '写出的内容会交给 {module}。',
  allowSample: '让它写',
};
