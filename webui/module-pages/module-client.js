/** What a module's component gets as its property `client`. */
import {client} from '../client/client.js';
import {locale, onLocaleChange} from '../base/i18n.js';
import {CallWaits} from './call-waits.js';
import {LiveControl} from './live-control.js';
import {navigate} from '../base/router.js';
import {toast, toastError} from '../ui/toasts.js';
import './ac-live-control.js';
import './ac-waiting.js';

/** One for each element; what it listens to ends with the element. */
export class ModuleClient {
  /**
   * @param {string} name  the module's
   * @param {string} [host]  the host on another machine where it runs that this element is about; empty: the server
   */
  constructor(name, host = '') {
    this.name = name;
    this._host = host;
    /** @type {Set<() => void>} */
    this._ends = new Set();
    /** What calls wait for; the frame around the element says it. */
    this.waits = new CallWaits();
    this._ends.add(() => this.waits.close());
  }

  /** The page's language: `en` or `zh`. */
  get locale() {
    return locale();
  }

  /**
   * Call a tool, of any module. What the call waits for, a person or its turn, is said above the element.
   * @param {string} tool
   * @param {Record<string, unknown>} [args]
   * @param {import('../client/client.js').CallOptions} [options]
   */
  async call(tool, args = {}, options = {}) {
    const followed = this.waits.follow(options);
    try {
      return await client.call(tool, args, followed.options);
    } finally {
      followed.done();
    }
  }

  /** End a call. @param {string} callId */
  cancel(callId) {
    return client.cancel(callId);
  }

  /**
   * Listen to events, such as `NAME.*` for what the module publishes; `locale` tells of a new language.
   * @param {string} pattern
   * @param {(event: any) => void} handler
   * @returns {() => void} the way to end it; it ends with the element anyway
   */
  on(pattern, handler) {
    const end = pattern === 'locale' ? onLocaleChange(() => handler(locale())) : client.on(this._heardAs(pattern), handler);
    const once = () => {
      this._ends.delete(once);
      end();
    };
    this._ends.add(once);
    return once;
  }

  /**
   * Ask one of the module's own routes.
   * @param {string} path  below the module's own address, or a whole path that begins with `/`
   * @param {RequestInit} [init]
   */
  fetch(path, init) {
    return client.fetch(this._path(path), init);
  }

  /** The JSON of a route. @param {string} path @returns {Promise<any>} */
  get(path) {
    return client.get(this._path(path));
  }

  /** Send JSON to a route. @param {string} path @param {unknown} [body] @returns {Promise<any>} */
  post(path, body) {
    return client.post(this._path(path), body);
  }

  /** A WebSocket to a route of that kind; whoever opens it closes it. @param {string} path @returns {WebSocket} */
  socket(path) {
    return client.socket(this._path(path));
  }

  /**
   * Whether this page may act through the module's sockets; it ends with the element. `<ac-live-control .control=…>` shows
   * what stands in the way, and fires `ac-ask-control` when the person wants to act.
   */
  liveControl() {
    const control = new LiveControl(this._host ? `${this._host}/${this.name}` : this.name);
    const once = () => {
      this._ends.delete(once);
      control.close();
    };
    this._ends.add(once);
    return control;
  }

  /** An artifact as a `blob:` address. @param {string} id */
  artifactUrl(id) {
    return client.artifactUrl(id);
  }

  /** Show a message. @param {string} text @param {unknown} [error]  what went wrong, if it did */
  toast(text, error) {
    if (error === undefined) toast(text);
    else toastError(text, error);
  }

  /** Go to an address of the page, such as `/tools/read_file`. @param {string} path */
  navigate(path) {
    navigate(path);
  }

  /** End what the element listens to. */
  close() {
    for (const end of [...this._ends]) end();
  }

  /** @param {string} path */
  _path(path) {
    if (path.startsWith('/')) return path;
    return this._host ? `/api/hosts/${this._host}/modules/${this.name}/${path}` : `/api/modules/${this.name}/${path}`;
  }

  /** What the module publishes bears the name of its host, where that is another machine. @param {string} pattern */
  _heardAs(pattern) {
    return this._host && pattern.startsWith(`${this.name}.`) ? `${this._host}/${pattern}` : pattern;
  }
}
