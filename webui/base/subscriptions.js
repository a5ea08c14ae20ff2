/** Subscriptions of a component: started when it is connected, ended when it is disconnected. */

/** @typedef {() => void} End */

/** A controller that a component creates in its constructor: `new Listening(this, () => [client.on('call.*', …), onRoute(…)])`. */
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
