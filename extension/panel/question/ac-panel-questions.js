import {LitElement, html, nothing} from 'lit';
import {Localized, t} from '../../webui/base/i18n.js';
import {Listening} from '../../webui/base/subscriptions.js';
import '../../webui/ui/overlay/ac-dialog.js';
import {answerQuestion, onQuestions, panelQuestions} from '../../worker/api.js';
import {questions} from './questions.js';
import './ac-question-card.js';

/** Asks the user in the panel, one question at a time: those of its own calls, and the worker's about tabs of this window. */
export class AcPanelQuestions extends Localized(LitElement) {
  static properties = {_workers: {state: true}};

  constructor() {
    super();
    /** @type {import('../../worker/api.js').Question[]} */
    this._workers = [];
    new Listening(this, () => [questions.subscribe(() => this.requestUpdate()), onQuestions(() => void this._load())]);
  }

  connectedCallback() {
    super.connectedCallback();
    void this._load();
  }

  async _load() {
    const [all, {id: windowId}] = await Promise.all([panelQuestions(), chrome.windows.getCurrent()]);
    const tabs = await Promise.all(all.map(({tabId}) => chrome.tabs.get(tabId).catch(() => null)));
    this._workers = all.filter((_, at) => tabs[at]?.windowId === windowId);
  }

  render() {
    const [worker] = this._workers;
    const asked = questions.own[0] ?? (worker && {...worker, answer: (/** @type {boolean} */ isAllowed) => void answerQuestion(worker.id, isAllowed)});
    if (!asked) return nothing;
    return html`
      <ac-dialog open heading=${t('panel.secretHeading')} @ac-close=${() => asked.answer(false)}>
        <ac-question-card .question=${asked} @ac-answer=${(/** @type {CustomEvent<{isAllowed: boolean}>} */ {detail}) => asked.answer(detail.isAllowed)}></ac-question-card>
      </ac-dialog>`;
  }
}
customElements.define('ac-panel-questions', AcPanelQuestions);
