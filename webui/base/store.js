/** What several views show and the server changes: kept once, told to all. */
export class Store extends EventTarget {
  /** Call `handler` on every change. @param {() => void} handler @returns {() => void} the way to end it */
  subscribe(handler) {
    this.addEventListener('change', handler);
    return () => this.removeEventListener('change', handler);
  }

  /** Something changed. */
  tell() {
    this.dispatchEvent(new Event('change'));
  }
}
