/** Work that a burst of events requests many times and that runs once. */

const SOON_MS = 300;

/** A throttle: `const soon = new Soon(() => this._load())`; then `client.on('call.*', soon.ask)`, and at the end `soon.end`. */
export class Soon {
  /** @param {() => void} run @param {number} [waitMs]  from the first request */
  constructor(run, waitMs = SOON_MS) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    this.ask = () => {
      this._timer ??= setTimeout(() => {
        this._timer = undefined;
        run();
      }, waitMs);
    };
    /** Cancel the pending run. */
    this.end = () => {
      clearTimeout(this._timer);
      this._timer = undefined;
    };
  }
}
