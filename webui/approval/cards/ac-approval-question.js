import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {base} from '../../ui/styles.js';
import {visibleText} from '../guard/visible-text.js';
import {cardStyles} from './card-styles.js';
import {waiting} from './pending-requests.js';
import '../../questions/ac-chat-question.js';

/** A question of a tool to the user, with the chat that it belongs to. @fires ac-failed {error: Error} */
export class AcApprovalQuestion extends Localized(LitElement) {
  static properties = {question: {attribute: false}};

  static styles = [base, cardStyles, css`
    ac-chat-question { display: block; margin-top: var(--ac-space-3); }
  `];

  constructor() {
    super();
    /** @type {import('./pending-requests.js').WaitingQuestion | null} */
    this.question = null;
  }

  render() {
    const {question} = this;
    if (!question) return nothing;
    return html`
      <article aria-labelledby="heading">
        <div class="head"><h3 id="heading">${t(question.sessionTitle ? 'approval.question' : 'approval.questionUntitled', {chat: visibleText(question.sessionTitle)})}</h3></div>
        <ac-chat-question .question=${{...question, options: question.options ?? []}} @ac-answer=${this._onAnswer}></ac-chat-question>
      </article>`;
  }

  /** @param {CustomEvent<{answer: import('../../questions/ac-chat-question.js').Answer, failed: () => void}>} event */
  async _onAnswer(event) {
    event.stopPropagation();
    const {answer, failed} = event.detail;
    try {
      if (this.question) await waiting.answer(this.question, answer);
    } catch (error) {
      failed();
      this.dispatchEvent(new CustomEvent('ac-failed', {detail: {error}, bubbles: true, composed: true}));
    }
  }
}

customElements.define('ac-approval-question', AcApprovalQuestion);
