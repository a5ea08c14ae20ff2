/** What several views show and the server changes: kept once, shared by all. */
export class Store extends EventTarget {
  /** Call `handler` on every change. @param {() => void} handler @returns {() => void} the way to end it */
  subscribe(handler) {
    this.addEventListener('change', handler);
    return () => this.removeEventListener('change', handler);
  }

  /** Something changed. */
  notify() {
    this.dispatchEvent(new Event('change'));
  }
}
