/** What people read on the module's page and in the view of a shared tab. */

const EN = {
  title: 'Your own tabs',
  about: 'A tab of your own browser, where you are logged in, can be shared with one chat: its agent then reads that tab and acts in it, each action under the rules of your approvals. Nothing else in your browser is seen.',
  how: 'To share one: open the side panel of the agentcore extension beside the tab, pair it with this server once (“Pair a client” in the approval view), and choose “Share this tab”.',
  none: 'No tab is shared.',
  chat: 'Chat', open: 'Show', end: 'End sharing', ended: 'This tab is not shared any more.', endFailed: 'It was not ended',
  ready: 'shared', paused: 'paused: the tab has left its site, and you are asked in the side panel', away: 'your browser is away',
  by: (/** @type {string} */ client, /** @type {string} */ browser) => (browser ? `shared by ${client} (${browser})` : `shared by ${client}`),
  look: 'Show what it looks like', lookAgain: 'Show it again', looking: 'Asking the browser …',
  picture: 'What the tab looked like', lookFailed: 'There is no picture',
  last: 'Last actions', nothing: 'Nothing was done in it yet.', ok: 'done',
  at: (/** @type {string} */ time) => `at ${time}`,
};

/** @type {typeof EN} */
const ZH = {
  title: '您自己的标签页',
  about: '您自己浏览器中已登录的标签页可以与一个对话共享：该对话的智能体便可读取此标签页并在其中操作，每个操作都遵循您的批准规则。浏览器中的其他内容不会被看到。',
  how: '共享方法：在标签页旁打开 agentcore 扩展的侧边栏，与本服务器配对一次（批准视图中的“配对客户端”），然后选择“共享此标签页”。',
  none: '没有共享的标签页。',
  chat: '对话', open: '显示', end: '结束共享', ended: '此标签页已不再共享。', endFailed: '未能结束',
  ready: '已共享', paused: '已暂停：标签页离开了原网站，侧边栏中会询问您', away: '您的浏览器不在线',
  by: (client, browser) => (browser ? `由 ${client} 共享（${browser}）` : `由 ${client} 共享`),
  look: '显示页面画面', lookAgain: '再次显示', looking: '正在询问浏览器…',
  picture: '标签页的画面', lookFailed: '没有画面',
  last: '最近的操作', nothing: '尚未在其中执行任何操作。', ok: '已完成',
  at: (time) => time,
};

/** @param {string} locale */
export function texts(locale) {
  return locale === 'zh' ? ZH : EN;
}

/** How a tab stands, in a few words. @param {{isPaused: boolean, isThere: boolean}} tab @param {string} locale */
export function stateText(tab, locale) {
  const t = texts(locale);
  return !tab.isThere ? t.away : tab.isPaused ? t.paused : t.ready;
}
