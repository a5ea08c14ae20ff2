import{html as p,svg as S,mathml as v}from"lit-html";/**
 * @license
 * Copyright 2020 Google LLC
 * SPDX-License-Identifier: BSD-3-Clause
 */var u=Symbol.for(""),d=t=>{if(t?.r===u)return t?._$litStatic$},_=t=>({_$litStatic$:t,r:u}),w=(t,...a)=>({_$litStatic$:a.reduce((r,i,o)=>r+(e=>{if(e._$litStatic$!==void 0)return e._$litStatic$;throw Error(`Value passed to 'literal' function must be a 'literal' result: ${e}. Use 'unsafeStatic' to pass non-literal values, but
            take care to ensure page security.`)})(i)+t[o+1],t[0]),r:u}),h=new Map,c=t=>(a,...r)=>{let i=r.length,o,e,l=[],$=[],n,s=0,f=!1;for(;s<i;){for(n=a[s];s<i&&(e=r[s],(o=d(e))!==void 0);)n+=o+a[++s],f=!0;s!==i&&$.push(e),l.push(n),s++}if(s===i&&l.push(a[i]),f){let m=l.join("$$lit$$");(a=h.get(m))===void 0&&(l.raw=l,h.set(m,a=l)),r=$}return t(a,...r)},b=c(p),x=c(S),y=c(v);export{b as html,w as literal,y as mathml,x as svg,_ as unsafeStatic,c as withStatic};
