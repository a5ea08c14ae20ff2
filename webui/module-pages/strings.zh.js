/** Texts of live views, such as for the approval that is needed before the page may act in one, in Chinese. */
export const modulePages = {
  watching: '你正在观看。输入和点击需要在审批视图中确认一次。',
  waiting: '正在等待你的决定：请在审批视图中确认允许此页面在这里输入和点击。确认后会自动继续。',
  show: '去决定',
  refused: '已在审批视图中拒绝：此页面继续观看。',
  expired: '未在规定时间内决定：此页面继续观看。',
  again: '再次请求',
  'waits.approval': '有一个调用正在等待你的决定，确认后会自动继续。',
  'waits.turn': '此处有另一个调用正在进行。轮到你的调用时会自动继续。',
  'waits.connection': '连接已断开。正在重新尝试，恢复后会自动继续。',
};
