/** Short messages about actions, shown in a strip of the page by `<ac-toasts>`. */
import {Store} from '../base/store.js';

/** @typedef {{label: string, run: () => void}} Action  offered beside the message */
/** @typedef {{id: number, kind: 'ok' | 'info' | 'danger', text: string, detail: string, action?: Action}} Toast */

const STAY_MS = 6000;
/** A message with a button stays until the user has read it and decided. */
const WITH_ACTION_MS = 20_000;

class Toasts extends Store {
  constructor() {
    super();
    /** @type {Toast[]} */
    this.shown = [];
    this._next = 1;
  }

  /** @param {Omit<Toast, 'id'>} toast */
  add(toast) {
    const id = this._next++;
    // a repeated message is not shown twice
    const others = this.shown.filter(({kind, text, detail}) => kind !== toast.kind || text !== toast.text || detail !== toast.detail);
    this.shown = [...others, {...toast, id}];
    this.notify();
    // errors stay until the user closes them
    if (toast.kind !== 'danger') setTimeout(() => this.remove(id), toast.action ? WITH_ACTION_MS : STAY_MS);
  }

  /** @param {number} id */
  remove(id) {
    this.shown = this.shown.filter((toast) => toast.id !== id);
    this.notify();
  }
}

export const toasts = new Toasts();

/**
 * Show a message.
 * @param {string} text
 * @param {{kind?: Toast['kind'], detail?: string, action?: Action}} [options]
 */
export function toast(text, {kind = 'ok', detail = '', action} = {}) {
  toasts.add({kind, text, detail, action});
}

/** Show an error. @param {string} text  what failed @param {unknown} error */
export function toastError(text, error) {
  toasts.add({kind: 'danger', text, detail: error instanceof Error ? error.message : String(error)});
}
