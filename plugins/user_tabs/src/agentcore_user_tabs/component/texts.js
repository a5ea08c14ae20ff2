/** Texts of the module's page and of the view of a shared tab. */

const EN = {
  title: 'Your tabs',
  about: 'A tab of your own browser, where you are logged in, can be shared with one chat: its agent then reads that tab and acts in it, each action under the rules of your approvals. Nothing else in your browser is seen.',
  howTitle: 'How to share a tab',
  steps: [
    'Once: put the agentcore extension into your browser (docs/extension.md says how).',
    'Once: open its side panel and pair it with this server; the approval view has the code, under “Pair a client”.',
    'Open the page in question, choose the chat in the side panel, and click “Share this tab”.',
  ],
  none: 'No tab is shared.',
  chat: 'To the chat', with: (/** @type {string} */ title) => `shared with the chat “${title}”`, open: 'Show', end: 'End sharing', ended: 'This tab is not shared any more.', endFailed: 'It was not ended',
  ready: 'shared', paused: 'paused', away: 'browser away',
  whyPaused: 'The tab has left the site that you shared. The side panel asks you whether the agent may go on there.',
  whyAway: 'Your browser is closed, or does not reach this server. Sharing ends by itself after half a minute.',
  by: (/** @type {string} */ client, /** @type {string} */ browser) => (browser ? `shared by ${client} (${browser})` : `shared by ${client}`),
  look: 'Show what it looks like', lookAgain: 'Show it again', looking: 'Asking the browser …',
  picture: 'What the tab looked like', lookFailed: 'There is no picture',
  last: 'Last actions', nothing: 'Nothing was done in it yet.',
  outcomes: {ok: 'done', cancelled: 'cancelled', interrupted: 'cut off on the way', user_tab_moved: 'the page was left', user_tab_forbidden: 'not allowed', user_tab_timeout: 'no answer in time', user_tab_away: 'browser away', user_tab_not_shared: 'sharing ended', user_tab_failed: 'failed'},
  at: (/** @type {string} */ time) => `as of ${time}`,
};

/** @type {typeof EN} */
const ZH = {
  title: '你自己的标签页',
  about: '你自己浏览器中已登录的标签页可以与一个对话共享：该对话的智能体便可读取此标签页并在其中操作，每个操作都遵循你的批准规则。浏览器中的其他内容不会被看到。',
  howTitle: '如何共享标签页',
  steps: [
    '一次性：将 agentcore 扩展装入浏览器（方法见 docs/extension.md）。',
    '一次性：打开扩展的侧边栏，与本服务器配对；配对码在批准视图的“配对客户端”中。',
    '打开要共享的网页，在侧边栏中选择对话，然后点击“共享此标签页”。',
  ],
  none: '没有共享的标签页。',
  chat: '前往对话', with: (title) => `已与对话“${title}”共享`, open: '显示', end: '结束共享', ended: '此标签页已不再共享。', endFailed: '未能结束',
  ready: '已共享', paused: '已暂停', away: '浏览器不在线',
  whyPaused: '标签页已离开你共享的网站。侧边栏会询问你是否允许智能体在那里继续。',
  whyAway: '你的浏览器已关闭，或无法连接到本服务器。半分钟后共享会自动结束。',
  by: (client, browser) => (browser ? `由 ${client} 共享（${browser}）` : `由 ${client} 共享`),
  look: '显示页面画面', lookAgain: '再次显示', looking: '正在询问浏览器…',
  picture: '标签页的画面', lookFailed: '没有画面',
  last: '最近的操作', nothing: '尚未在其中执行任何操作。',
  outcomes: {ok: '已完成', cancelled: '已取消', interrupted: '中途断开', user_tab_moved: '页面已离开', user_tab_forbidden: '不允许', user_tab_timeout: '未及时应答', user_tab_away: '浏览器不在线', user_tab_not_shared: '共享已结束', user_tab_failed: '失败'},
  at: (time) => `截至 ${time}`,
};

/** @param {string} locale */
export function texts(locale) {
  return locale === 'zh' ? ZH : EN;
}

/** Return why a tab cannot be used now; empty if it can. @param {{isPaused: boolean, isThere: boolean}} tab @param {string} locale */
export function hindrance(tab, locale) {
  const t = texts(locale);
  return !tab.isThere ? t.whyAway : tab.isPaused ? t.whyPaused : '';
}

/** Return the outcome of a call as a text. @param {string} outcome @param {string} locale */
export function outcomeText(outcome, locale) {
  return /** @type {Record<string, string>} */ (texts(locale).outcomes)[outcome] ?? outcome;
}

/** Return the state of a tab as a short text. @param {{isPaused: boolean, isThere: boolean}} tab @param {string} locale */
export function stateText(tab, locale) {
  const t = texts(locale);
  return !tab.isThere ? t.away : tab.isPaused ? t.paused : t.ready;
}
