import {baseKeymap} from 'prosemirror-commands';
import {keymap} from 'prosemirror-keymap';
import {schema} from 'prosemirror-schema-basic';
import {EditorState} from 'prosemirror-state';
import {EditorView} from 'prosemirror-view';

const doc = schema.node('doc', null, [schema.node('paragraph', null, [schema.text('What was there')])]);
const attributes = {'aria-label': 'Letter'};
const state = EditorState.create({schema, doc, plugins: [keymap(baseKeymap)]});
const view = new EditorView(document.getElementById('app'), {state, attributes});
window.textOf = () => view.state.doc.textBetween(0, view.state.doc.content.size, '\n');
