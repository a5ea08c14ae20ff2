import {createApp, h, reactive, vModelCheckbox, vModelRadio, vModelSelect, vModelText, withDirectives, withModifiers} from 'vue';

const state = reactive({name: '', phone: '', size: 's', terms: false, pay: '', note: '', sent: ''});
const bound = (tag, name, directive, props, children, modifiers = {}) => withDirectives(
  h(tag, {...props, 'onUpdate:modelValue': (value) => { state[name] = value; }}, children), [[directive, state[name], undefined, modifiers]]);
const send = () => {
  const {sent, ...rest} = state;
  state.sent = JSON.stringify(rest);
};
const radio = (pay) => h('label', [bound('input', 'pay', vModelRadio, {type: 'radio', value: pay, name: 'pay'}), pay]);

createApp({render: () => h('form', {onSubmit: withModifiers(send, ['prevent'])}, [
  h('label', ['Name', bound('input', 'name', vModelText, {}, null, {lazy: true})]),
  h('label', ['Phone', bound('input', 'phone', vModelText, {type: 'tel'}, null, {trim: true})]),
  h('label', ['Size', bound('select', 'size', vModelSelect, {}, [h('option', {value: 's'}, 'Small'), h('option', {value: 'l'}, 'Large')])]),
  h('label', [bound('input', 'terms', vModelCheckbox, {type: 'checkbox'}), 'Terms']),
  radio('cash'), radio('card'),
  h('label', ['Note', bound('textarea', 'note', vModelText, {})]),
  h('button', {disabled: !state.name}, 'Send'),
  h('output', state.sent),
])}).mount('#app');
