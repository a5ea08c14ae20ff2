/** Styles shared by the cards of calls, changes and clients. */
import {css} from 'lit';

export const cardStyles = css`
  article {
    --pad: var(--ac-space-4);
    display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: var(--pad);
    background: var(--ac-surface); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l);
  }
  /* in the card of a chat, which has a border and says the tool */
  article.bare { --pad: 0; border: 0; border-radius: 0; }
  article.grave { border-color: color-mix(in srgb, var(--ac-danger) 45%, transparent); }
  .head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); }
  .head h3 { font-size: var(--ac-text-l); overflow-wrap: anywhere; min-width: 0; }
  .head h3.tool { font-family: var(--ac-font-mono); }
  .head ac-approval-countdown { margin-inline-start: auto; }
  .about { color: var(--ac-text-muted); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
  .facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: var(--ac-space-1) var(--ac-space-4); font-size: var(--ac-text-s); }
  .facts > div { display: grid; grid-template-columns: 8.5rem minmax(0, 1fr); gap: var(--ac-space-3); align-items: baseline; }
  .facts dt { color: var(--ac-text-muted); }
  ac-approval-actions {
    margin: 0 calc(-1 * var(--pad)) calc(-1 * var(--pad)); padding: var(--ac-space-3) var(--pad) var(--ac-space-2);
    background: var(--ac-surface); border-top: 1px solid var(--ac-border); border-radius: 0 0 var(--ac-radius-l) var(--ac-radius-l);
  }
  .facts dd { overflow-wrap: anywhere; }
  .facts code, .facts .mono { white-space: pre-wrap; unicode-bidi: isolate; direction: ltr; }
  .note { display: flex; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); border-radius: var(--ac-radius-m); font-size: var(--ac-text-s); overflow-wrap: anywhere; }
  .note ac-icon { margin-top: 0.1875rem; }
  .note.info { background: var(--ac-accent-soft); } .note.info ac-icon { color: var(--ac-accent); }
  .note.warn { background: var(--ac-warn-soft); } .note.warn ac-icon { color: var(--ac-warn); }
  .note.danger { background: var(--ac-danger-soft); } .note.danger ac-icon { color: var(--ac-danger); }
  /* at hand however long the call is; of several cards it would stand under a card that is hardly seen */
  :host([alone]) ac-approval-actions { position: sticky; bottom: 0; }
  .lines { overflow: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); font-family: var(--ac-font-mono); font-size: var(--ac-text-s); }
  .lines span { display: block; padding-inline: var(--ac-space-3); white-space: pre-wrap; overflow-wrap: anywhere; }
  .lines .added { background: var(--ac-code-added); } .lines .removed { background: var(--ac-code-removed); }
  /* what it would do, a line for each step */
  .words { display: grid; gap: var(--ac-space-1); }
  .words li { overflow-wrap: anywhere; white-space: pre-wrap; padding-inline-start: var(--ac-space-3); border-inline-start: 2px solid var(--ac-accent); }
  .seen { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); position: relative; }
  /* what is watched has a size, and takes no room */
  .end { position: absolute; inset: 0 0 auto; height: 2px; pointer-events: none; }
  .end:last-child { inset: auto 0 0; }
  @media (max-width: 36rem) { .facts > div { grid-template-columns: 1fr; gap: 0; } article:not(.bare) { --pad: var(--ac-space-3); } }
  mark { background: var(--ac-danger-soft); color: var(--ac-danger); font-weight: var(--ac-weight-bold); border-radius: var(--ac-radius-s); }
`;
