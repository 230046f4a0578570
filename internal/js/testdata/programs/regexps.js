//// emails and urls out of text
const t = "Mail a.b+c@ex-ample.co.uk or x@y.io; see https://ex.com/a?b=1#c and http://q.org.";
return [t.match(/[\w.+-]+@[\w-]+(\.[\w-]+)+/g), t.match(/https?:\/\/[^\s]+[^\s.,;]/g)];

//// named groups in a loop
const re = /(?<k>\w+)=(?<v>"[^"]*"|\S+)/g, out = {};
for (const { groups: { k, v } } of 'a=1 b="x y" c=z'.matchAll(re)) out[k] = v.replace(/^"|"$/g, "");
return out;

//// exec with lastIndex
const re = /a(\d)?/g, out = [];
let m;
while ((m = re.exec("a1 a a3"))) out.push([m.index, m[0], m[1] ?? null, re.lastIndex]);
return out;

//// sticky tokens
const re = /\s*(?:(\d+\.?\d*)|([-+*/()]))/y, src = "12.5*(3 + 4)-1", out = [];
let m;
while (re.lastIndex < src.length && (m = re.exec(src))) out.push(m[1] ? +m[1] : m[2]);
return out;

//// an expression evaluator
const tok = "2*(3+4)-10/4".match(/\d+\.?\d*|[-+*/()]/g); let i = 0;
const prim = () => { const t = tok[i++]; if (t === "(") { const v = sum(); i++; return v; } return +t; };
const prod = () => { let v = prim(); while (tok[i] === "*" || tok[i] === "/") v = tok[i++] === "*" ? v * prim() : v / prim(); return v; };
const sum = () => { let v = prod(); while (tok[i] === "+" || tok[i] === "-") v = tok[i++] === "+" ? v + prod() : v - prod(); return v; };
return sum();

//// multiline and crlf
return ["a\r\nb\nc".match(/^.*$/gm), "x\r\ny".split(/\r?\n/), "a\nb".match(/a$/m)?.[0] ?? null, "a\nb".match(/a$/)];

//// dot and line ends
return [/a.b/.test("a\nb"), /a.b/s.test("a\nb"), /a.b/.test("a\u2028b"), /a[^]b/.test("a\nb"), /^.$/u.test("😀"), /^.$/.test("😀")];

//// unicode property escapes
return ["naïve façade Ωμέγα 東京 42".match(/\p{L}+/gu), "a1٣".match(/\p{Nd}/gu), "Ab".replace(/\p{Lu}/gu, "_"), "x, y!".match(/\p{P}/gu), "αβγabc".match(/\p{Script=Greek}+/u)[0], "€$".match(/\p{Sc}/gu).length];

//// emoji by property
return ["hi 👍🏽 ok 🎉".match(/\p{Emoji_Presentation}/gu), "a😀b".replace(/\p{Extended_Pictographic}/gu, "*")];

//// word boundaries are ascii
return ["né".split(/\b/), "don't stop".match(/\b\w+\b/g), "über".replace(/\b/g, "|"), /\w/.test("é"), /\W/.test("é")];

//// digits and spaces
return [/\d/.test("٣"), /\s/.test("\u00a0"), /\s/.test("\u200b"), "\ufeff".match(/\s/)?.length ?? 0, /[\d-x]/.test("-")];

//// case-insensitive beyond ascii
return [/\u212a/i.test("k"), /\u212a/iu.test("k"), /ſ/i.test("s"), /ſ/iu.test("S"), /É/i.test("é"), /[à-ý]/i.test("Ü"), /ß/i.test("ẞ"), /σ/i.test("ς")];

//// lookbehind and lookahead
return ["$12 €34".match(/(?<=\$)\d+/)[0], "a1b22".match(/(?<![a-z])\d/g), "12px 5em".match(/\d+(?=px)/)[0], "1234567".replace(/(?<=\d)(?=(\d{3})+$)/g, ","), "foobar".match(/foo(?!baz)/)[0]];

//// backreferences
return [/(\w)\1/.exec("hello")[0], /(?<q>['"]).*?\k<q>/.exec(`say "it's"`)[0], "the the cat".replace(/\b(\w+) \1\b/, "$1"), /\1(a)/.exec("a")?.[0] ?? null];

//// captures that did not take part
const m = /(a)|(b)|(?<c>c)/.exec("b");
return [m.length, m[1] === undefined, m[2], m.groups.c === undefined, "aBc".replace(/(x)?B/, "[$1]"), "ab".match(/(?:(a)|b)*/)];

//// greedy, lazy, quantified
return ["<a><b>".match(/<.+>/)[0], "<a><b>".match(/<.+?>/)[0], "aaaa".match(/a{2,3}/g), "aaa".match(/a{0}/)[0], "a{2".match(/a{2/)[0], /^(?:\d{3}-){2}\d{4}$/.test("555-123-4567")];

//// split by a regexp with flags
return ["aXbxc".split(/x/i), " a  b ".split(/\s+/), "2024-01-02T03:04".split(/[-T:]/).map(Number), "abc".split(/(?:)/), "a1b2".split(/\d/)];

//// search, test, lastIndex
const re = /b/g;
return ["abcb".search(/b/), "x".search(/y/), re.test("ab"), re.lastIndex, re.test("ab"), re.lastIndex];

//// flags and source
const r = /a\/b/gimsuy;
return [r.flags, r.source, String(new RegExp("/", "g")), new RegExp("").source, new RegExp("\n").source, RegExp("a", "g").global, new RegExp(/x/g, "i").flags];

//// escaping user text
const esc = s => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
return [esc("a.b*c(1)?"), new RegExp(esc("1+1=2")).test("so 1+1=2")];

//// bad patterns throw
return ["(", "[", "a**", "\\", "(?<n>a)(?<n>b)", "(?<=", "a{2,1}", "[b-a]", "*"].map(p => { try { new RegExp(p); return "ok"; } catch (e) { return e.name; } });

//// bad patterns with u
return ["\\-", "{", "}", "\\u{110000}", "\\p{Nope}", "\\_", "]"].map(p => { try { new RegExp(p, "u"); return "ok"; } catch (e) { return e.name; } });

//// annex b leniency
return [/a{/.test("a{"), /]/.test("]"), /\c/.test("\\c"), /[\c]/.test("c"), /\8/.test("8"), /\u{2}/.test("uu"), /\x1/.test("x1"), /(?=a)*/.test("")];

//// classes with escapes
return ["a-b_c d\t".replace(/[^\w\s-]/g, "").length, "x]y".match(/[\]]/)[0], "a\\b".match(/[\\]/)[0], "-".match(/[a\-z]/)[0], "^".match(/[\^]/)[0], "\b".match(/[\b]/) !== null];

//// replace counts and offsets
let n = 0;
return ["aXbXc".replace(/X/g, (m, off) => `${++n}@${off}`), "abc".replace(/(?<x>b)/, (...a) => JSON.stringify(a.at(-1))), "aaa".replace(/a/g, "$0$1")];

//// empty matches move on
return ["abc".replace(/x*/g, "-"), "abc".match(/(?:)/g).length, [..."ab".matchAll(/$|^/g)].map(m => m.index), "😀".replace(/(?:)/gu, "."), "😀".replace(/(?:)/g, ".").length];

//// matchAll needs g
try { "a".matchAll(/a/); } catch (e) { return e.name; }

//// match without g has index and input
const m = "say hi".match(/h(i)/);
return [m.index, m.input, [...m], "x".match(/y/), "abc".match("b").index, "a.c".match(".")[0]];

//// a long quoted string
const s = '"' + 'a\\"'.repeat(7000) + '"';
return s.match(/"(?:[^"\\]|\\.)*"/)?.[0].length ?? null;

//// dates in prose
const t = "Due 3 Jan 2024, or 2024-02-30, or 12/25/2023.";
return [...t.matchAll(/(\d{4})-(\d\d)-(\d\d)|(\d{1,2})\/(\d{1,2})\/(\d{4})|(\d{1,2}) (Jan|Feb) (\d{4})/g)].map(m => m.slice(1).filter(Boolean));

//// ip addresses and versions
const ip = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/, ver = /^v?(\d+)\.(\d+)\.(\d+)(?:-([\w.]+))?$/;
return [["1.2.3.4", "256.1.1.1", "1.2.3"].map(s => ip.test(s)), ["v1.2.3", "1.10.0-rc.1", "1.2"].map(s => ver.exec(s)?.slice(1) ?? null)];

//// versions sorted
const vs = ["1.10.0", "1.2.0", "1.2.10", "0.9.99", "1.2"];
return vs.sort((a, b) => { const [x, y] = [a, b].map(v => v.split(".").map(Number)); for (let i = 0; i < 3; i++) if ((x[i] ?? 0) !== (y[i] ?? 0)) return (x[i] ?? 0) - (y[i] ?? 0); return 0; });

//// markdown headings and links
const md = "# Title\ntext [a](http://a) and [b](/b \"t\")\n## Sub *one*\n```\n# not\n```\n";
return [[...md.matchAll(/^(#{1,6}) (.+)$/gm)].map(m => [m[1].length, m[2]]), [...md.matchAll(/\[([^\]]+)\]\(([^)\s]+)(?: "[^"]*")?\)/g)].map(m => m.slice(1, 3))];

//// has indices
const m = /(?<y>\d{4})-(\d\d)/d.exec("on 2024-05");
return [m.indices[0], m.indices[2], m.indices.groups.y];

//// symbol methods of regexps
const never = { [Symbol.match]: () => "matched", [Symbol.replace]: (s, r) => s + r, [Symbol.split]: () => ["split"], [Symbol.search]: () => 7 };
return ["a".match(never), "a".replace(never, "b"), "a".split(never), "a".search(never)];

//// the last match
const o = [RegExp.$1, RegExp.lastMatch, RegExp.input]; /b(.)(x)?/.exec('abcd'); o.push(RegExp.$1, RegExp.$2, RegExp.lastParen, RegExp["$`"], RegExp["$'"]); 'x1y2'.replace(/(\w)(\d)/g, ''); o.push(RegExp.$1, RegExp.$2); /nope/.test('zz'); o.push(RegExp.$1); 'a-b'.split(/(-)/); o.push(RegExp.$1); 'qé1'.match(/(\d)/); o.push(RegExp.leftContext, RegExp.$_); RegExp.$1 = 5; o.push(RegExp.$1, Object.keys(RegExp).length); return o;

//// the last match, in a condition
if (/^(\w+)\s*=\s*(.*)$/.test('key = some value')) return { [RegExp.$1]: RegExp.$2 };
