/** Texts of live views: what waits for a person before the page may act in one. */

export const modulePages = {
  en: {
    watching: 'You are watching. Typing and clicking are confirmed in the approval view, once.',
    waiting: 'Waits for your decision: confirm in the approval view that this page may type and click here. It then goes on by itself.',
    show: 'Decide',
    refused: 'It was refused in the approval view: this page goes on watching.',
    expired: 'Nobody decided in time: this page goes on watching.',
    again: 'Ask again',
  },
  zh: {
    watching: '您正在观看。输入和点击需要在审批视图中确认一次。',
    waiting: '正在等待您的决定：请在审批视图中确认允许此页面在这里输入和点击。确认后会自动继续。',
    show: '去决定',
    refused: '已在审批视图中拒绝：此页面继续观看。',
    expired: '未在规定时间内决定：此页面继续观看。',
    again: '再次请求',
  },
};
