import {LitElement, css, html, nothing} from 'lit';
import {live} from 'lit/directives/live.js';
import {Localized, t} from '../base/i18n.js';
import {badges, base, fields} from '../ui/styles.js';
import {problemStyles} from './problem-styles.js';
import '../ui/ac-icon.js';

/** @typedef {import('../client/skill-list.js').Skill} Skill */

const LOOKS = {
  ready: {kind: 'ok', icon: 'check'},
  new: {kind: 'warn', icon: 'shield-alert'},
  changed: {kind: 'warn', icon: 'shield-alert'},
  refused: {kind: '', icon: 'ban'},
  invalid: {kind: 'danger', icon: 'circle-alert'},
  shadowed: {kind: '', icon: 'eye-off'},
};

/** One skill: its state, what is wrong with it, and the agents that get it.  @fires ac-agent {skill: string, agent: string, isOn: boolean} */
export class AcSkillRow extends Localized(LitElement) {
  static properties = {
    skill: {attribute: false},
    agents: {attribute: false},
    isBusy: {attribute: false},
  };

  static styles = [base, badges, fields, problemStyles, css`
    article { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); padding: var(--ac-space-4); }
    .name { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); }
    h3 { font-size: var(--ac-text-m); overflow-wrap: anywhere; min-width: 0; }
    .description { max-width: 50rem; overflow-wrap: anywhere; }
    fieldset { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-4); border: 0; margin: 0; padding: 0; font-size: var(--ac-text-s); }
    legend { float: inline-start; padding: 0; margin-inline-end: var(--ac-space-2); color: var(--ac-text-muted); }
    label { display: inline-flex; align-items: center; gap: var(--ac-space-2); min-height: 1.75rem; overflow-wrap: anywhere; }
    summary { width: max-content; cursor: pointer; color: var(--ac-accent); font-size: var(--ac-text-s); border-radius: var(--ac-radius-s); }
    dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: var(--ac-space-1) var(--ac-space-4); margin: var(--ac-space-2) 0 0; font-size: var(--ac-text-s); }
    dt { color: var(--ac-text-muted); }
    dd { margin: 0; overflow-wrap: anywhere; }
    @media (max-width: 30rem) {
      dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
      dd { margin-bottom: var(--ac-space-2); }
    }
  `];

  constructor() {
    super();
    /** @type {Skill | null} */
    this.skill = null;
    /** The ids of all agents. @type {string[]} */
    this.agents = [];
    this.isBusy = false;
  }

  render() {
    const {skill} = this;
    if (!skill) return nothing;
    const {kind, icon} = LOOKS[skill.state];
    return html`
      <article aria-labelledby="name">
        <div class="name">
          <h3 id="name">${skill.name}</h3>
          <span class="badge ${kind}"><ac-icon name=${icon}></ac-icon>${t(`skills.state.${skill.state}`)}</span>
          <span class="badge">${sourceText(skill.source)}</span>
        </div>
        ${skill.description ? html`<p class="description">${skill.description}</p>` : nothing}
        ${this._renderState(skill)}
        ${skill.problems.length ? html`<ul class="problems">${skill.problems.map(problemItem)}</ul>` : nothing}
        ${skill.isUsable ? this._renderAgents(skill) : nothing}
        ${this._renderDetails(skill)}
      </article>`;
  }

  /** @param {Skill} skill */
  _renderState({state, isUsable, isWaiting}) {
    if (state === 'ready' || state === 'invalid') return nothing;
    const text = state === 'refused' && isUsable ? 'refusedChange' : state;
    const isOpen = state === 'new' || state === 'changed';
    return html`<p class="muted small">${t(`skills.text.${text}`)} ${isOpen ? t(isWaiting ? 'skills.waits' : 'skills.later') : nothing}</p>`;
  }

  /** @param {Skill} skill */
  _renderAgents({name, agents}) {
    return html`
      <fieldset ?disabled=${this.isBusy}>
        <legend>${t('skills.agents')}</legend>
        ${this.agents.map((agent) => html`
          <label><input type="checkbox" aria-label=${t('skills.agent', {skill: name, agent})} .checked=${live(agents.includes(agent))}
            @change=${(/** @type {Event} */ event) => this._change(name, agent, /** @type {HTMLInputElement} */ (event.target).checked)}>${agent}</label>`)}
      </fieldset>`;
  }

  /** @param {Skill} skill */
  _renderDetails({name, folder, files, license, compatibility, allowedTools, isUsable}) {
    return html`
      <details>
        <summary aria-label="${t('skills.details')}: ${name}">${t('skills.details')}</summary>
        <dl>
          ${isUsable ? html`<dt>${t('skills.useIt')}</dt><dd>${t('skills.use', {name: `/${name}`})}</dd>` : nothing}
          <dt>${t('skills.folder')}</dt><dd><code>${folder}</code></dd>
          ${files.length ? html`<dt>${t('skills.files')}</dt><dd>${files.join(', ')}</dd>` : nothing}
          ${license ? html`<dt>${t('skills.license')}</dt><dd>${license}</dd>` : nothing}
          ${compatibility ? html`<dt>${t('skills.needs')}</dt><dd>${compatibility}</dd>` : nothing}
          ${allowedTools.length ? html`<dt>${t('skills.tools')}</dt><dd><code>${allowedTools.join(' ')}</code><br><span class="muted">${t('skills.toolsText')}</span></dd>` : nothing}
        </dl>
      </details>`;
  }

  /** @param {string} skill @param {string} agent @param {boolean} isOn */
  _change(skill, agent, isOn) {
    this.requestUpdate(); // the checkbox shows the server's state
    this.dispatchEvent(new CustomEvent('ac-agent', {detail: {skill, agent, isOn}}));
  }
}

/** @param {import('../client/skill-list.js').SkillProblem} problem */
export function problemItem({file, line, message, isError}) {
  return html`
    <li class=${isError ? 'error' : 'warning'}><ac-icon name=${isError ? 'circle-alert' : 'triangle-alert'}></ac-icon>
      <span>${isError ? nothing : html`${t('skills.warning')}: `}${message}<br><code>${file}${line ? `:${line}` : ''}</code></span></li>`;
}

/** @param {string} source */
function sourceText(source) {
  const [kind, name = ''] = source.split(/:(.*)/s);
  return t(`skills.source.${kind}`, {name});
}

customElements.define('ac-skill-row', AcSkillRow);
