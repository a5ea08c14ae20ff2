/** State that the server changes and several views show: stored once, shared by all. */
export class Store extends EventTarget {
  /** Call `handler` on every change. @param {() => void} handler @returns {() => void} the unsubscribe function */
  subscribe(handler) {
    this.addEventListener('change', handler);
    return () => this.removeEventListener('change', handler);
  }

  notify() {
    this.dispatchEvent(new Event('change'));
  }
}
