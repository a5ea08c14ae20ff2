import {LitElement, css, html, nothing, unsafeCSS} from 'lit';
import {badges, base, buttons} from 'agentcore/styles.js';
import {Connection} from './connection.js';
import {oneLine, stateOf} from './process-state.js';
import './style-sheet.js';
import {onThemeChange, themeOf} from './theme.js';
import {FitAddon, Terminal, styles as xtermStyles} from './vendor/xterm.js';
import {word} from './texts.js';

const SCROLLBACK_LINES = 5000;
/** Maximum number of characters that are kept until the process can receive them. */
const EARLY_CHARS = 4096;

/** One background process: its output as it arrives, and keyboard input. */
export class ShellToolsTerminal extends LitElement {
  static properties = {
    client: {attribute: false},
    resourceId: {attribute: false},
    _process: {state: true},
    _notice: {state: true},
    _isLost: {state: true},
  };

  static styles = [base, buttons, badges, unsafeCSS(xtermStyles), css`
    :host { position: absolute; inset: 0; display: flex; flex-direction: column; background: var(--ac-surface); }
    ac-live-control, ac-waiting { flex: none; }
    header {
      display: flex; align-items: center; gap: var(--ac-space-3); min-height: 2.75rem; padding: var(--ac-space-1) var(--ac-space-4);
      border-bottom: 1px solid var(--ac-border);
    }
    h1 {
      flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
      font: var(--ac-weight-medium) var(--ac-text-m) / var(--ac-line-tight) var(--ac-font-mono); letter-spacing: 0;
    }
    .folder { flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .notice { padding: var(--ac-space-2) var(--ac-space-4); background: var(--ac-warn-soft); color: var(--ac-warn); }
    .screen { flex: 1; min-height: 0; padding: var(--ac-space-2) 0 var(--ac-space-2) var(--ac-space-4); overflow: hidden; }
    .screen:focus-within { box-shadow: inset 2px 0 0 var(--ac-focus); }
    .screen.watched { overflow: auto; }
    .mount { width: 100%; height: 100%; }
    .xterm { height: 100%; }
    /* below the last whole row */
    .xterm .xterm-viewport { background: none; }
    @media (max-width: 40rem) { .folder { display: none; } header { padding-inline: var(--ac-space-3); } }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.client = null;
    this.resourceId = '';
    /** @type {import('./process-state.js').Process | null} */
    this._process = null;
    this._notice = '';
    this._isLost = false;
    /** What was typed before the process and the permission to type were known. */
    this._early = '';
    /** @type {Terminal | null} */
    this._terminal = null;
    /** @type {Connection | null} */
    this._connection = null;
    /** @type {any} */
    this._control = null;
    /** @type {FitAddon | null} */
    this._fit = null;
    /** @type {(() => void)[]} */
    this._ends = [];
  }

  firstUpdated() {
    this._start();
  }

  connectedCallback() {
    super.connectedCallback();
    if (this.hasUpdated) this._start();
  }

  disconnectedCallback() {
    for (const end of this._ends.splice(0)) end();
    this._connection?.close();
    this._terminal?.dispose();
    this._control?.close();
    this._terminal = this._connection = this._fit = this._control = null;
    this._early = '';
    this._process = null;
    super.disconnectedCallback();
  }

  render() {
    const locale = this.client?.locale ?? 'en';
    const process = this._process;
    const command = process ? oneLine(process.command) : '';
    const state = process && stateOf(process, locale);
    return html`
      <header>
        <h1 title=${process?.command ?? nothing}>${command || word(locale, 'connecting')}</h1>
        ${process ? html`<span class="folder muted small" title=${process.cwd}>${process.cwd}</span>` : nothing}
        ${state ? html`<span class="badge ${state.kind}" role="status">${state.text}</span>` : nothing}
        ${process?.isRunning ? html`<button class="small danger" title=${word(locale, 'leave')} @click=${this._end}>${word(locale, 'end')}</button>` : nothing}
      </header>
      <ac-waiting for=${this._isLost ? 'connection' : ''}></ac-waiting>
      ${this._notice ? html`<p class="notice" role="alert">${this._notice}</p>` : nothing}
      ${process?.isRunning ? html`<ac-live-control .control=${this._control} .action=${word(locale, 'type')} @ac-ask-control=${this._ask}></ac-live-control>` : nothing}
      <div class="screen ${this._mayType ? '' : 'watched'}"><div class="mount"></div></div>`;
  }

  updated() {
    const input = this.renderRoot.querySelector('textarea');
    const locale = this.client?.locale ?? 'en';
    input?.setAttribute('aria-label', word(locale, 'terminal', {command: this._process ? oneLine(this._process.command) : ''}));
  }

  get _mayType() {
    return Boolean(this._control?.isGranted);
  }

  _start() {
    const mount = /** @type {HTMLElement} */ (this.renderRoot.querySelector('.mount'));
    const terminal = new Terminal({
      theme: themeOf(mount), fontFamily: getComputedStyle(this).getPropertyValue('--ac-font-mono'), fontSize: 13,
      lineHeight: 1.2, scrollback: SCROLLBACK_LINES, cursorBlink: false, minimumContrastRatio: 4.5, screenReaderMode: true,
    });
    this._terminal = terminal;
    const fit = this._fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(mount);
    terminal.attachCustomKeyEventHandler((event) => this._isForProcess(event));
    terminal.onData((text) => this._type(text));
    terminal.onResize(() => this._tellSize());
    const observer = new ResizeObserver(() => { if (this._mayType) fit.fit(); });
    observer.observe(mount);
    this._ends.push(
      () => observer.disconnect(),
      onThemeChange(() => { terminal.options.theme = themeOf(mount); }),
      this.client.on('locale', () => this.requestUpdate()),
      this.client.on('connection', (/** @type {string} */ connection) => { if (connection === 'open') this._connection?.retry(); }),
    );
    this._control = this.client.liveControl();
    this._ends.push(this._control.subscribe(() => this._followControl()));
    this._connect(terminal);
    terminal.focus(); // the user types on while the terminal connects
  }

  /** True until it is known if the process runs and this page may type into it. */
  get _isStarting() {
    return !this._process || this._control?.state === 'unknown';
  }

  /** Send what was typed, or keep it until the terminal has started. @param {string} text */
  _type(text) {
    if (this._isStarting) this._early = (this._early + text).slice(0, EARLY_CHARS);
    else this._connection?.send({type: 'input', text});
  }

  /** Send what was typed before the terminal had started; without the permission to type it is dropped. */
  _sendEarly() {
    if (this._isStarting || !this._early) return;
    if (this._mayType && this._process?.isRunning) this._connection?.send({type: 'input', text: this._early});
    this._early = '';
  }

  /** @param {Terminal} terminal */
  _connect(terminal) {
    const path = `terminals/${encodeURIComponent(this.resourceId)}`;
    this._connection = new Connection(this.client, path, {
      onOpen: () => {
        this._notice = '';
        this._isLost = false;
        terminal.reset();
        this._tellSize();
      },
      onOutput: (data, drawn) => terminal.write(data, drawn),
      onMessage: (message) => this._take(terminal, message),
      onLost: (isOver) => {
        this._isLost = !isOver;
        this._notice = isOver ? word(this.client.locale, 'gone') : '';
      },
    });
  }

  /** @param {Terminal} terminal @param {any} message */
  _take(terminal, {type, bytes, columns, rows, error, ...process}) {
    const {locale} = this.client;
    if (type === 'size') {
      if (!this._mayType) terminal.resize(columns, rows);
    } else if (type === 'skipped') {
      terminal.write(`\x1b[0m\r\n\x1b[2m[${word(locale, 'skipped', {size: Math.round(bytes / 1000)})}]\x1b[0m\r\n`);
    } else if (type === 'error') {
      this.client.toast(error.message, new Error(error.message));
    } else if (type === 'state') {
      this._process = process;
      terminal.options.convertEol = !process.hasTerminal;
      this._followControl();
      if (process.isRunning) terminal.focus();
      else this._connection?.finish();
    }
  }

  /** Update the terminal: a view that may type sets the terminal's size; other views show it at the size it has. */
  _followControl() {
    const terminal = this._terminal;
    if (!terminal) return;
    terminal.options.disableStdin = !this._isStarting && (!this._mayType || !this._process?.isRunning);
    this._sendEarly();
    if (this._mayType) {
      this._fit?.fit();
      this._tellSize();
    }
    this.requestUpdate();
  }

  _tellSize() {
    const {cols: columns, rows} = /** @type {Terminal} */ (this._terminal);
    if (this._mayType) this._connection?.send({type: 'resize', columns, rows});
  }

  async _ask() {
    try {
      if (await this._control.request()) this._terminal?.focus();
    } catch (error) {
      this.client.toast(word(this.client.locale, 'askFailed'), error);
    }
  }

  /** Return true if a key is for the process. F6 leaves the terminal; so does Tab, unless a process runs and the user may type. @param {KeyboardEvent} event */
  _isForProcess(event) {
    if (event.key === 'Tab') return Boolean(this._process?.isRunning) && this._mayType;
    if (event.key !== 'F6') {
      const isTyped = event.type === 'keydown' && event.key.length === 1 && !event.ctrlKey && !event.metaKey;
      if (isTyped && this._process?.isRunning && this._control?.state === 'needed') void this._ask();
      return true;
    }
    if (event.type === 'keydown') /** @type {HTMLElement | null} */ (this.renderRoot.querySelector('header button'))?.focus();
    event.preventDefault();
    return false;
  }

  async _end() {
    const {locale} = this.client;
    const command = oneLine(this._process?.command ?? '');
    try {
      const {ok, error} = await this.client.call('bash_kill', {process_id: this.resourceId});
      if (!ok) throw new Error(error.message);
    } catch (error) {
      this.client.toast(word(locale, 'endFailed', {command}), error);
    }
  }
}

customElements.define('shell-tools-terminal', ShellToolsTerminal);
