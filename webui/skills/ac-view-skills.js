import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {client} from '../client/client.js';
import {skillList} from '../client/skill-list.js';
import {badges, base, buttons, cards, views} from '../ui/styles.js';
import {toast, toastError} from '../ui/toasts.js';
import '../ui/ac-empty.js';
import '../ui/ac-error-card.js';
import '../ui/ac-icon.js';
import {problemItem} from './ac-skill-row.js';
import {problemStyles} from './problem-styles.js';
import '../base/later-strings.js';

/** @typedef {import('../client/skill-list.js').Skill} Skill */

/** All skills: first those that models get, then the others with the reasons. */
export class AcViewSkills extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
    _agents: {state: true},
    _isBusy: {state: true},
  };

  static styles = [base, badges, buttons, cards, views, problemStyles, css`
    .view-head .muted { max-width: 42rem; }
    section + section { margin-top: var(--ac-space-6); }
    h2 { margin-bottom: var(--ac-space-2); font-size: var(--ac-text-m); }
    .card { overflow: hidden; }
    ac-skill-row { display: block; }
    ac-skill-row + ac-skill-row { border-top: 1px solid var(--ac-border); }
    .card.problems { padding: var(--ac-space-4); }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    /** @type {string[]} */
    this._agents = [];
    this._isBusy = false;
    new Listening(this, () => {
      void this._load();
      return [
        skillList.subscribe(() => this.requestUpdate()),
        ...['policy.decided', 'settings.changed', 'module.stateChanged'].map((type) => client.on(type, () => void this._load())),
        client.on('connection', (connection) => { if (connection === 'open') void this._load(); }),
      ];
    });
  }

  render() {
    const {skills, problems, error, isLoaded} = skillList;
    const usable = skills.filter(({isUsable}) => isUsable);
    const others = skills.filter(({isUsable}) => !isUsable);
    return html`
      <header class="view-head">
        <div class="titles"><h1>${t('skills.title')}</h1><p class="muted">${t('skills.subtitle')}</p></div>
        <div class="actions"><button @click=${this._load}><ac-icon name="refresh-cw"></ac-icon>${t('skills.again')}</button></div>
      </header>
      ${error ? html`<ac-error-card heading=${t('skills.notLoaded')} .error=${error}><button slot="actions" @click=${this._load}>${t('ui.again')}</button></ac-error-card>` : nothing}
      ${isLoaded && !error && !skills.length ? html`<section class="card"><ac-empty icon="sparkles" heading=${t('skills.none')}>${t('skills.noneText')}</ac-empty></section>` : nothing}
      ${usable.length ? this._group(t('skills.usable', {n: usable.length}), usable) : nothing}
      ${others.length ? this._group(t('skills.others'), others) : nothing}
      ${problems.length ? html`<section aria-label=${t('skills.problems')}><h2>${t('skills.problems')}</h2><ul class="card problems">${problems.map(problemItem)}</ul></section>` : nothing}`;
  }

  /** @param {string} heading @param {Skill[]} skills */
  _group(heading, skills) {
    return html`
      <section aria-label=${heading}>
        <h2>${heading}</h2>
        <div class="card">${repeat(skills, ({folder}) => folder, (skill) => html`
          <ac-skill-row .skill=${skill} .agents=${this._agents} .isBusy=${this._isBusy} @ac-agent=${this._changeAgent}></ac-skill-row>`)}</div>
      </section>`;
  }

  async _load() {
    const [chat] = await Promise.all([client.get('/api/chat').catch(() => null), skillList.load()]);
    if (chat) this._agents = chat.agents.map((/** @type {{id: string}} */ {id}) => id);
  }

  /** @param {CustomEvent<{skill: string, agent: string, isOn: boolean}>} event */
  async _changeAgent({detail: {skill, agent, isOn}}) {
    this._isBusy = true;
    try {
      await client.put(`/api/skills/${encodeURIComponent(skill)}/agents/${encodeURIComponent(agent)}`, {isOn});
    } catch (error) {
      const waits = /** @type {import('../client/client.js').ApiError} */ (error).type === 'confirmation_required';
      if (waits) toast(t('approval.waits'), {detail: t('approval.waitsText')});
      else toastError(t('skills.changeFailed'), error);
    } finally {
      this._isBusy = false;
    }
    await this._load();
  }
}

customElements.define('ac-view-skills', AcViewSkills);
