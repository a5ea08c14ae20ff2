/** Subscriptions of a component: begun when it is connected, ended when it is not. */

/** @typedef {() => void} End */

/** `new Listening(this, () => [client.on('call.*', …), onRoute(…)])` in the constructor is all that a component writes. */
export class Listening {
  /** @param {import('lit').ReactiveControllerHost} host @param {() => End[]} begin */
  constructor(host, begin) {
    this._begin = begin;
    /** @type {End[]} */
    this._ends = [];
    host.addController(this);
  }

  hostConnected() {
    this._ends = this._begin();
  }

  hostDisconnected() {
    for (const end of this._ends) end();
    this._ends = [];
  }
}
