/** Desktop notifications about requests that arrive while the page is hidden, if the user wants them. */
import {approvals} from '../frame/pending-count.js';
import {t} from '../../base/i18n.js';
import {Store} from '../../base/store.js';

const KEY = 'agentcore.notices';
const TAG = 'agentcore.approvals';

class DesktopNotices extends Store {
  constructor() {
    super();
    /** True once a request arrived while the page was hidden: only then is the user asked whether to show notifications. */
    this._wasMissed = false;
    this._count = 0;
    /** Cached, because reading it needs a round trip to another process. @type {NotificationPermission} */
    this._permission = permission();
    /** @type {Notification | null} */
    this._shown = null;
    approvals.subscribe(() => this._onChange());
    // the user may have changed it in the browser's settings or in the address bar
    window.addEventListener('focus', () => this._readPermission());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this._close(); });
  }

  /** True if this browser supports notifications and does not block them. */
  get isPossible() {
    return this._permission !== 'denied';
  }

  /** True if notifications are shown. */
  get isOn() {
    return this._permission === 'granted' && localStorage.getItem(KEY) === 'yes';
  }

  /** True if the user is to be asked: once, and only after a request was missed. */
  get isQuestion() {
    return this._wasMissed && this.isPossible && localStorage.getItem(KEY) === null;
  }

  /** Store the user's choice in this browser. @param {boolean} isWanted */
  async choose(isWanted) {
    localStorage.setItem(KEY, isWanted ? 'yes' : 'no');
    this.notify();
    if (isWanted && this._permission === 'default') await Notification.requestPermission();
    this._readPermission();
  }

  _readPermission() {
    const before = this._permission;
    this._permission = permission();
    if (this._permission !== before) this.notify();
  }

  _onChange() {
    const before = this._count;
    this._count = approvals.total;
    if (this._count === 0) return this._close();
    if (this._count <= before || !document.hidden) return;
    this._wasMissed = true;
    this.notify();
    if (this.isOn) this._show();
  }

  _show() {
    // only the number of requests: others may see the desktop
    this._shown = new Notification('agentcore', {body: t('approval.waiting', {n: this._count}), tag: TAG, icon: '/static/icon.svg'});
    this._shown.addEventListener('click', () => {
      window.focus();
      this._close();
    });
  }

  _close() {
    this._shown?.close();
    this._shown = null;
  }
}

/** Return the permission for notifications; 'denied' if the browser does not support them. */
function permission() {
  return 'Notification' in window ? Notification.permission : 'denied';
}

export const desktopNotices = new DesktopNotices();
