/** The texts of both elements, in English and Chinese. */

const TEXTS = {
  en: {
    browsers: 'Browser windows', browsersAbout: 'Browsers that agents and you have started, and their tabs.',
    pages: 'Web pages', pagesAbout: 'Each chat has pages of its own. Watch one, or take it over for a while.',
    launch: 'Launch a browser', close: 'Close browser', newTab: 'New tab', closeTab: 'Close tab', closePage: 'Close page',
    noBrowser: 'No browser runs', noBrowserText: 'One starts when an agent needs it, or when you launch it.',
    noPage: 'No chat has a page open', noPageText: 'A page opens when an agent goes to an address.',
    noTab: 'No tabs.', shared: 'shared by chats', attached: 'attached', elsewhere: 'Playwright server', lost: 'connection lost', process: 'process', tabs: 'Tabs',
    address: 'Address', back: 'Back', forward: 'Forward', reload: 'Reload', open: 'Open',
    take: 'Take over', giveBack: 'Hand back', driverYou: 'You drive', driverOther: 'Somebody else drives', driverAgent: 'Watching',
    picture: 'Live picture of the page', connecting: 'Connecting…', gone: 'This page is not open',
    goneText: 'It was closed, or its process ended. It opens again when a tool uses it.', again: 'Try again',
    hint: 'Mouse and keys go to the page. Shift + Escape hands it back.', accept: 'OK', dismiss: 'Cancel', reply: 'Answer',
    failed: 'That did not work',
    waitsForOther: 'Somebody else drives this page. It becomes yours by itself when they hand it back.',
    waitsForCall: 'A call is on its way in this page. You take over when it has ended, or after ten seconds.', dontWait: 'Do not wait',
    chooseTab: 'Choose a tab to watch it.', untitled: 'Untitled',
    state: {open: 'open', driven: 'driven by a person', dialog: 'dialog', failed: 'crashed', lost: 'connection lost', starting: 'starting', ready: 'open', busy: 'busy', closed: 'closed'},
  },
  zh: {
    browsers: '浏览器窗口', browsersAbout: '由智能体和你启动的浏览器及其标签页。',
    pages: '网页', pagesAbout: '每个对话都有自己的网页。你可以观看，也可以暂时接管。',
    launch: '启动浏览器', close: '关闭浏览器', newTab: '新建标签页', closeTab: '关闭标签页', closePage: '关闭网页',
    noBrowser: '没有正在运行的浏览器', noBrowserText: '智能体需要时会自动启动，你也可以手动启动。',
    noPage: '没有对话打开网页', noPageText: '智能体访问网址时会打开网页。',
    noTab: '没有标签页。', shared: '对话共用', attached: '已连接', elsewhere: 'Playwright 服务器', lost: '连接已断开', process: '进程', tabs: '标签页',
    address: '网址', back: '后退', forward: '前进', reload: '刷新', open: '打开',
    take: '接管', giveBack: '交还', driverYou: '由你操作', driverOther: '他人正在操作', driverAgent: '观看中',
    picture: '网页实时画面', connecting: '正在连接…', gone: '该网页未打开',
    goneText: '它已关闭，或进程已结束。工具再次使用时会重新打开。', again: '重试',
    hint: '鼠标和按键会发送到网页。按 Shift + Escape 交还。', accept: '确定', dismiss: '取消', reply: '回答',
    failed: '操作失败',
    waitsForOther: '他人正在操作此网页。对方交还后将自动由你接管。',
    waitsForCall: '此网页中有调用正在进行。调用结束后（最多十秒）由你接管。', dontWait: '不再等待',
    chooseTab: '选择一个标签页进行观看。', untitled: '无标题',
    state: {open: '已打开', driven: '由人操作', dialog: '对话框', failed: '已崩溃', lost: '连接已断开', starting: '正在启动', ready: '已打开', busy: '忙碌', closed: '已关闭'},
  },
};

/** @param {{locale?: string} | null} client */
export function textsFor(client) {
  return client?.locale === 'zh' ? TEXTS.zh : TEXTS.en;
}
