/** The `client` property of a module's component. */
import {client} from '../client/client.js';
import {locale, onLocaleChange} from '../base/i18n.js';
import {CallWaits} from './call-waits.js';
import {LiveControl} from './live-control.js';
import {navigate} from '../base/router.js';
import {toast, toastError} from '../ui/toasts.js';
import './ac-live-control.js';
import './ac-waiting.js';

/** Client of one element; its subscriptions end with the element. */
export class ModuleClient {
  /**
   * @param {string} name  the module's name
   * @param {string} [host]  the host on another machine whose module this element shows; '' for the server
   */
  constructor(name, host = '') {
    this.name = name;
    this._host = host;
    /** @type {Set<() => void>} */
    this._ends = new Set();
    /** The reasons why calls are waiting, shown by the frame around the element. */
    this.waits = new CallWaits();
    this._ends.add(() => this.waits.close());
  }

  /** The page's language: `en` or `zh`. */
  get locale() {
    return locale();
  }

  /**
   * Call a tool of any module. While the call waits for approval or a queue slot, this is shown above the element.
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

  /** Cancel a call. @param {string} callId */
  cancel(callId) {
    return client.cancel(callId);
  }

  /**
   * Subscribe to events, such as `NAME.*` for those that the module publishes; `locale` reports a change of language.
   * @param {string} pattern
   * @param {(event: any) => void} handler
   * @returns {() => void} the function to unsubscribe; the subscription ends with the element anyway
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
   * Send a request to one of the module's own routes.
   * @param {string} path  below the module's own URL, or a full path that starts with `/`
   * @param {RequestInit} [init]
   */
  fetch(path, init) {
    return client.fetch(this._path(path), init);
  }

  /** Return the JSON response of a route. @param {string} path @returns {Promise<any>} */
  get(path) {
    return client.get(this._path(path));
  }

  /** Send JSON to a route. @param {string} path @param {unknown} [body] @returns {Promise<any>} */
  post(path, body) {
    return client.post(this._path(path), body);
  }

  /** Open a WebSocket to a WebSocket route; the caller closes it. @param {string} path @returns {WebSocket} */
  socket(path) {
    return client.socket(this._path(path));
  }

  /**
   * Return the permission of this page to act through the module's sockets; it ends with the element. `<ac-live-control .control=…>`
   * shows why it is not granted, and fires `ac-ask-control` when the user wants to act.
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

  /** Return an artifact as a `blob:` URL. @param {string} id */
  artifactUrl(id) {
    return client.artifactUrl(id);
  }

  /** Show a message. @param {string} text @param {unknown} [error]  the error, if there was one */
  toast(text, error) {
    if (error === undefined) toast(text);
    else toastError(text, error);
  }

  /** Navigate to an address of the page, such as `/tools/read_file`. @param {string} path */
  navigate(path) {
    navigate(path);
  }

  /** End the element's subscriptions. */
  close() {
    for (const end of [...this._ends]) end();
  }

  /** @param {string} path */
  _path(path) {
    if (path.startsWith('/')) return path;
    return this._host ? `/api/hosts/${this._host}/modules/${this.name}/${path}` : `/api/modules/${this.name}/${path}`;
  }

  /** Prefix the module's own events with its host if that is another machine. @param {string} pattern */
  _heardAs(pattern) {
    return this._host && pattern.startsWith(`${this.name}.`) ? `${this._host}/${pattern}` : pattern;
  }
}
