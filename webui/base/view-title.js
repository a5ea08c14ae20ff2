/** The title of the current view, for the title of the document: the URL only has ids. */
import {Store} from './store.js';

class ViewTitle extends Store {
  constructor() {
    super();
    this.text = '';
  }

  /** @param {string} text  empty: the view has no title, and its URL is used instead */
  say(text) {
    if (text === this.text) return;
    this.text = text;
    this.notify();
  }
}

export const viewTitle = new ViewTitle();
