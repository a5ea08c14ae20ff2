/** Texts of what tools ask the person. */
export const questions = {
  en: {
    title: 'A question for you',
    yourAnswer: 'Your answer',
    otherAnswer: 'Another answer',
    answer: 'Answer',
    decline: 'Decline',
    openAddress: 'Open this page',
    opensAt: 'It opens at {host}, in a new tab',
    addressDone: 'Done there',
    sampleAsked: '{module} wants your model to write a text. The model would be told:',
    sampleHint: 'What it writes goes to {module}.',
    allowSample: 'Have it written',
  },
  zh: {
    title: '向你提问',
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
  },
};
