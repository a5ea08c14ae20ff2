/** What the view in front shows, in its own words, for the title of the document: an address has ids in it. */
import {Store} from './store.js';

class ViewTitle extends Store {
  constructor() {
    super();
    this.text = '';
  }

  /** @param {string} text  empty: the view says nothing, and its address stands in the title */
  say(text) {
    if (text === this.text) return;
    this.text = text;
    this.notify();
  }
}

export const viewTitle = new ViewTitle();
