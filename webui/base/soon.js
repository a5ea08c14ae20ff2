/** What a burst of events asks for many times, and is done once. */

const SOON_MS = 300;

/** `const soon = new Soon(() => this._load())`; then `client.on('call.*', soon.ask)`, and at the end `soon.end`. */
export class Soon {
  /** @param {() => void} run @param {number} [waitMs]  from the first time that it is asked for */
  constructor(run, waitMs = SOON_MS) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    this.ask = () => {
      this._timer ??= setTimeout(() => {
        this._timer = undefined;
        run();
      }, waitMs);
    };
    /** What was asked for is not done any more. */
    this.end = () => {
      clearTimeout(this._timer);
      this._timer = undefined;
    };
  }
}
