/** A question in its own window, used if no panel is open in the tab's window. The worker closes it when the question is settled. */
import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../webui/base/i18n.js';
import '../webui/base/theme.js';
import {base} from '../webui/ui/styles.js';
import {answerQuestion, findQuestion} from '../worker/api.js';
import './question/ac-question-card.js';

export class AcQuestionWindow extends Localized(LitElement) {
  static properties = {question: {state: true}};

  static styles = [base, css`
    main { display: grid; gap: var(--ac-space-3); padding: var(--ac-space-5); }
    h1 { font-size: var(--ac-text-l); }
  `];

  constructor() {
    super();
    /** @type {import('../worker/api.js').Question | null} */
    this.question = null;
  }

  async connectedCallback() {
    super.connectedCallback();
    this.question = await findQuestion(new URLSearchParams(location.search).get('id') ?? '');
  }

  render() {
    const {question} = this;
    if (!question) return nothing;
    return html`<main><h1>${t('panel.secretHeading')}</h1>
      <ac-question-card .question=${question} @ac-answer=${(/** @type {CustomEvent<{isAllowed: boolean}>} */ {detail}) => answerQuestion(question.id, detail.isAllowed)}></ac-question-card></main>`;
  }
}
customElements.define('ac-question-window', AcQuestionWindow);
