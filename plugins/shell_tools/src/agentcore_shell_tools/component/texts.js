/** The texts of the module's elements. */

const WORDS = {
  en: {
    title: 'Terminals', about: 'Commands that run in the background, started by you or by an agent.',
    command: 'Command', placeholder: 'npm run dev', run: 'Run', newTerminal: 'New terminal',
    none: 'Nothing runs', noneText: 'Start a command or a terminal above. What agents start in the background shows up here, too.',
    running: 'running', ended: 'ended', exit: 'exit {code}', end: 'End', endNamed: 'End {command}', open: 'Open {command}',
    folder: 'in {folder}', started: 'since {time}', failed: '{command} could not be started', endFailed: '{command} could not be ended',
    listFailed: 'The list could not be loaded', sandboxed: 'sandboxed', unconfined: 'not sandboxed: {reason}',
    terminal: 'Terminal of {command}. F6 leaves it.', connecting: 'Connecting …',
    gone: 'This process is not there any more.', skipped: '{size} kB of output came too fast to be shown', leave: 'F6 leaves the terminal',
    putAside: 'Put aside', notPutAside: 'could not be moved: remove it by hand',
    putAsideText: 'Commands made or changed these files, which decide what runs outside of the sandbox. To use one, move it back while no command runs.',
    processes: 'Processes', type: 'Type here', askFailed: 'You could not be asked',
  },
  zh: {
    title: '终端', about: '在后台运行的命令，由你或智能体启动。',
    command: '命令', placeholder: 'npm run dev', run: '运行', newTerminal: '新建终端',
    none: '没有正在运行的命令', noneText: '在上方启动命令或终端。智能体在后台启动的命令也会显示在这里。',
    running: '运行中', ended: '已结束', exit: '退出码 {code}', end: '结束', endNamed: '结束 {command}', open: '打开 {command}',
    folder: '位于 {folder}', started: '始于 {time}', failed: '无法启动 {command}', endFailed: '无法结束 {command}',
    listFailed: '无法加载列表', sandboxed: '沙箱中', unconfined: '未使用沙箱：{reason}',
    terminal: '{command} 的终端。按 F6 离开。', connecting: '正在连接…',
    gone: '此进程已不存在。', skipped: '输出过快，有 {size} kB 未显示', leave: '按 F6 离开终端',
    putAside: '已搁置', notPutAside: '无法移动，请手动删除',
    putAsideText: '命令创建或更改了这些文件，它们决定沙箱之外运行什么。若要使用，请在没有命令运行时将其移回原处。',
    processes: '进程', type: '在此输入', askFailed: '无法发起请求',
  },
};

/**
 * Return a text in the page's language.
 * @param {string} locale  `en` or `zh`
 * @param {keyof typeof WORDS.en} key
 * @param {Record<string, string | number>} [values]  for `{placeholders}`
 */
export function word(locale, key, values = {}) {
  const text = (locale === 'zh' ? WORDS.zh : WORDS.en)[key];
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}
