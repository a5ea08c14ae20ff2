/** The module's status: which page runs commands, and what was dropped. */
import {LitElement, css, html, nothing} from 'lit';
import {base, buttons, cards, tables, views} from 'agentcore/styles.js';

const TEXTS = {
  en: {
    title: 'Changes to this page', reload: 'Undo all changes (reload)', page: 'Page', seen: 'Heard of', state: 'State', active: 'acts', open: 'open', gone: 'gone',
    seconds: (/** @type {number} */ s) => `${s} s ago`, dropped: 'Dropped or refused', none: 'No page is connected.',
    about: 'Agents can read this page, run scripts in it and change it. The page that was used last acts. Whatever they change lasts until a reload; scripts and HTML always need your approval.',
  },
  zh: {
    title: '对本页面的更改', reload: '撤销所有更改（重新加载）', page: '页面', seen: '最近联系', state: '状态', active: '当前执行', open: '已打开', gone: '已离开',
    seconds: (/** @type {number} */ s) => `${s} 秒前`, dropped: '已丢弃或拒绝', none: '没有已连接的页面。',
    about: '智能体可以读取本页面、在其中运行脚本并修改它。最近使用的页面负责执行。所有更改在重新加载后消失；脚本和 HTML 始终需要你的批准。',
  },
};

class UiPageAbout extends LitElement {
  static properties = {
    client: {attribute: false},
    _state: {state: true},
  };

  static styles = [base, buttons, cards, tables, views, css`
    .card { padding: var(--ac-space-5); margin-bottom: var(--ac-space-4); }
    p { max-width: 65ch; margin-bottom: var(--ac-space-4); }
  `];

  constructor() {
    super();
    /** @type {any} */
    this.client = null;
    /** @type {{pages: {resourceId: string, isActive: boolean, isThere: boolean, seenSeconds: number}[], counts: Record<string, number>} | null} */
    this._state = null;
  }

  connectedCallback() {
    super.connectedCallback();
    void this._load();
    this._timer = setInterval(() => void this._load(), 3000);
    this.client.on('locale', () => this.requestUpdate());
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this._timer);
  }

  async _load() {
    try {
      this._state = await this.client.get('state');
    } catch {
      // the page shows that the server is unreachable; the next load tries again
    }
  }

  render() {
    const t = TEXTS[/** @type {'en' | 'zh'} */ (this.client.locale)] ?? TEXTS.en;
    return html`
      <div class="view-head"><h1>${t.title}</h1></div>
      <div class="card"><p>${t.about}</p><button @click=${() => location.reload()}>${t.reload}</button></div>
      ${this._state ? this._shown(this._state, t) : nothing}`;
  }

  /** @param {NonNullable<UiPageAbout['_state']>} state @param {typeof TEXTS.en} t */
  _shown({pages, counts}, t) {
    const dropped = Object.entries(counts);
    return html`
      <div class="card">
        ${pages.length === 0 ? t.none : html`
          <table>
            <thead><tr><th scope="col">${t.page}</th><th scope="col">${t.state}</th><th scope="col">${t.seen}</th></tr></thead>
            <tbody>${pages.map((page) => html`
              <tr><td><code>${page.resourceId}</code></td>
              <td>${page.isActive ? t.active : page.isThere ? t.open : t.gone}</td>
              <td>${t.seconds(Math.round(page.seenSeconds))}</td></tr>`)}
            </tbody>
          </table>`}
        ${dropped.length === 0 ? nothing : html`<p>${t.dropped}: ${dropped.map(([why, count]) => `${why} ${count}`).join(' · ')}</p>`}
      </div>`;
  }
}

customElements.define('ui-page-about', UiPageAbout);
