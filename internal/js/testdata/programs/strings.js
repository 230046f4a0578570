//// parse key=value lines
const text = "# head\nname = Ada Lovelace\n\nborn=1815\nurl = https://x.y/?a=b\n";
return Object.fromEntries(text.split("\n").map(l => l.trim()).filter(l => l && !l.startsWith("#")).map(l => {
  const i = l.indexOf("=");
  return [l.slice(0, i).trim(), l.slice(i + 1).trim()];
}));

//// csv with quotes
const csv = 'id,name,note\n1,"Smith, J.","said ""hi"""\n2,Plain,\n';
const parse = line => { const out = []; let cur = "", q = false;
  for (let i = 0; i < line.length; i++) { const c = line[i];
    if (q) { if (c === '"' && line[i + 1] === '"') { cur += '"'; i++; } else if (c === '"') q = false; else cur += c; }
    else if (c === '"') q = true; else if (c === ",") { out.push(cur); cur = ""; } else cur += c; }
  return [...out, cur]; };
const [head, ...rows] = csv.trim().split("\n").map(parse);
return rows.map(r => Object.fromEntries(head.map((h, i) => [h, r[i]])));

//// csv out, quoted where needed
const esc = v => /[",\n]/.test(String(v ?? "")) ? `"${String(v).replaceAll('"', '""')}"` : String(v ?? "");
return [["a", 1, null], ['x"y', "p,q", "l\nm"]].map(r => r.map(esc).join(",")).join("\n");

//// tsv to objects
const [h, ...r] = "sku\tqty\nA1\t3\nB2\t10".split("\n").map(l => l.split("\t"));
return r.map(c => h.reduce((o, k, i) => Object.assign(o, { [k]: isNaN(c[i]) ? c[i] : +c[i] }), {}));

//// markdown table, padded
const rows = [["name", "n"], ["apples", 3], ["fig", 12]];
const w = rows[0].map((_, i) => Math.max(...rows.map(r => String(r[i]).length)));
const line = r => `| ${r.map((c, i) => typeof c === "number" ? String(c).padStart(w[i]) : c.padEnd(w[i])).join(" | ")} |`;
return [line(rows[0]), `|${w.map(n => "-".repeat(n + 2)).join("|")}|`, ...rows.slice(1).map(line)].join("\n");

//// slugs
const slug = s => s.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
return ["Crème Brûlée!", "  Hello,   World ", "ÅNGSTRÖM — unit"].map(slug);

//// camel, snake, kebab, title
const words = s => s.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(/[\s_-]+/).map(w => w.toLowerCase());
const s = "someHTTPValue_with-mixed Case";
return [words(s).join("_"), words(s).join("-"), words(s).map((w, i) => i ? w[0].toUpperCase() + w.slice(1) : w).join(""), words(s).map(w => w.replace(/^./, c => c.toUpperCase())).join(" ")];

//// word frequencies
const text = "the cat and the hat and the bat";
const f = {};
for (const w of text.match(/\w+/g)) f[w] = (f[w] || 0) + 1;
return Object.entries(f).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, 3);

//// truncate by code points
const cut = (s, n) => { const c = [...s]; return c.length > n ? c.slice(0, n - 1).join("") + "…" : s; };
return [cut("naïve café", 5), cut("👍👍👍👍", 3), cut("ok", 5)];

//// lengths of text
const s = "e\u0301👨‍👩‍👧";
return [s.length, [...s].length, s.normalize("NFC").length, s.codePointAt(2), s.charCodeAt(2), s.at(-1).charCodeAt(0)];

//// reverse and palindromes
const clean = s => s.toLowerCase().replace(/[^a-z]/g, "");
return ["A man, a plan, a canal: Panama", "nope"].map(s => clean(s) === [...clean(s)].reverse().join(""));

//// padding and repeating
return ["7".padStart(3, "0"), "ab".padEnd(7, "xyz"), "x".padStart(5, ""), "-".repeat(0), "abc".padStart(2)];

//// trim knows all white space
return ["\u00a0\ufeff\u2003 x \u2029\t", "\u180ex"].map(s => [s.trim().length, s.trimStart().length, s.trimEnd().length]);

//// slice, substring, substr
const s = "abcdef";
return [s.slice(-3, -1), s.slice(4, 2), s.substring(4, 2), s.substring(-1, 2), s.substr(-3, 2), s.slice(NaN), s.substring(NaN, 3)];

//// split with limits and captures
return ["a1b2c".split(/(\d)/), "a,b,c".split(",", 2), "abc".split(""), "".split(","), "".split(""), "a,b,".split(","), "abc".split(undefined)];

//// replace with functions and patterns
return ["2024-05-06".replace(/(\d+)-(\d+)-(\d+)/, "$3/$2/$1"), "a.b.c".replaceAll(".", () => "$&"), "xay".replace("a", "[$&$`$'$$]"),
  "John Smith".replace(/(?<first>\w+) (?<last>\w+)/, "$<last>, $<first>"), "aaa".replace("a", "b"), "abc".replace(/b/, (m, i, s) => m + i + s)];

//// template literals nest
const items = [{ n: "a", q: 2 }, { n: "b", q: 0 }];
return `Items: ${items.map(i => `${i.n}${i.q ? ` x${i.q}` : ""}`).join(", ")}. Sum ${items.reduce((a, i) => a + i.q, 0)}`;

//// tagged templates see raw text
const tag = (s, ...v) => ({ cooked: [...s], raw: [...s.raw], v });
return [tag`a\n${1}\u0041${"x"}`, String.raw`C:\new\${1 + 1}`];

//// a tag that escapes html
const html = (s, ...v) => s.reduce((out, p, i) => out + p + (i < v.length ? String(v[i]).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`) : ""), "");
return html`<b>${"<script>"}</b> & ${'"q"'}`;

//// case of letters beyond ascii
return ["straße".toUpperCase(), "İ".toLowerCase().length, "ΑΣ".toLowerCase(), "ǆ".toUpperCase(), "ﬁ".toUpperCase(), "ÀÉ".toLowerCase()];

//// comparing strings
return ["a" < "B", "a".localeCompare("b"), "a".localeCompare("a"), "10" < "9", 10 < "9", "Z" < "a", "é" > "z"];

//// startsWith, endsWith, includes with positions
return ["abcabc".startsWith("bc", 1), "abcabc".endsWith("ab", 5), "abc".includes("c", 3), "abc".indexOf("", 9), "abc".lastIndexOf("c", -1)];

//// code points and back
return [String.fromCodePoint(128512, 65), "😀".codePointAt(0), String.fromCharCode(0xd83d, 0xde00), "\u{1F600}" === "😀", "z".charCodeAt(9)].map(String);

//// lone surrogates
const s = "a\ud800b";
return [s.length, JSON.stringify(s), encodeURIComponent("é😀"), (() => { try { encodeURIComponent(s); } catch (e) { return e.name; } })()];

//// normalization forms
return ["NFC", "NFD", "NFKC", "NFKD"].map(f => [..."ﬁ\u00e9\u2460".normalize(f)].map(c => c.codePointAt(0).toString(16)).join(" "));

//// caesar and rot13
const rot = (s, n) => s.replace(/[a-z]/gi, c => { const b = c <= "Z" ? 65 : 97; return String.fromCharCode((c.charCodeAt(0) - b + n) % 26 + b); });
return [rot("Hello, World", 13), rot(rot("Hello, World", 13), 13)];

//// wrap text at a width
const wrap = (s, w) => s.split(" ").reduce((ls, x) => { const l = ls.at(-1); return (l + " " + x).trim().length <= w ? [...ls.slice(0, -1), (l + " " + x).trim()] : [...ls, x]; }, [""]);
return wrap("the quick brown fox jumps over the lazy dog", 12);

//// dedent
const dedent = s => { const ls = s.replace(/^\n|\n\s*$/g, "").split("\n"); const n = Math.min(...ls.filter(l => l.trim()).map(l => l.match(/^ */)[0].length)); return ls.map(l => l.slice(n)).join("\n"); };
return dedent(`
    a
      b

    c
  `);

//// ini with sections
let sec = null; const out = {};
for (const l of "[db]\nhost=h\nport=5\n[web]\nport=80".split("\n")) { const m = /^\[(.+)\]$/.exec(l); if (m) out[sec = m[1]] = {}; else { const [k, v] = l.split("="); out[sec][k] = v; } }
return out;

//// query strings by hand
const q = "a=1&b=x%20y&b=2&c=&d";
return q.split("&").map(p => p.split("=")).reduce((o, [k, v = null]) => { (o[k] ??= []).push(v && decodeURIComponent(v)); return o; }, {});

//// log lines
const log = "2024-01-02T03:04:05Z ERROR db timeout after 30s\n2024-01-02T03:05:00Z INFO ok\nbad line";
return log.split("\n").map(l => l.match(/^(?<ts>\S+Z) (?<lv>[A-Z]+) (?<msg>.*)$/)?.groups).filter(Boolean).map(g => ({ ...g }));

//// string raw methods on numbers and null
try { String.prototype.trim.call(null); } catch (e) { return [e instanceof TypeError, String.prototype.slice.call(12345, 1, 3), "".concat(1, null, [2])]; }

//// isWellFormed-like check by regexp
return ["ok", "a\udfff"].map(s => /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(s));

//// escapes
return ["\x41\u0042\u{43}\103", 'a\
b', "\0".length, "\v\f\b".length, `${"\`"}`];

//// html tags stripped and entities decoded
const e = { amp: "&", lt: "<", gt: ">", quot: '"' };
return "<p>Fish &amp; <b>Chips</b> &lt;now&gt; &#33;&unknown;</p>".replace(/<[^>]+>/g, "").replace(/&(#\d+|\w+);/g, (m, x) => x[0] === "#" ? String.fromCharCode(x.slice(1)) : e[x] ?? m);

//// levenshtein
const lev = (a, b) => { let p = [...Array(b.length + 1).keys()]; for (let i = 1; i <= a.length; i++) { const c = [i]; for (let j = 1; j <= b.length; j++) c[j] = Math.min(p[j] + 1, c[j - 1] + 1, p[j - 1] + (a[i - 1] !== b[j - 1])); p = c; } return p[b.length]; };
return [lev("kitten", "sitting"), lev("", "abc"), lev("same", "same")];

//// roman numerals
const t = [[1000, "M"], [900, "CM"], [500, "D"], [400, "CD"], [100, "C"], [90, "XC"], [50, "L"], [40, "XL"], [10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"]];
return [1994, 2024, 49].map(n => t.reduce((s, [v, r]) => { while (n >= v) { s += r; n -= v; } return s; }, ""));

//// building a long text
let s = "";
for (let i = 0; i < 3000; i++) s += `row ${i};`;
return [s.length, s.slice(-9), s.split(";").length];

//// elements of html
return ['x'.bold(), 'a'.link('u"'), 'q'.anchor('n'), 's'.sub(), 's'.sup(), 'i'.italics(), 'b'.big(), 'c'.fontcolor('red'), 'f'.fixed(), 's'.strike(), 't'.small(), 'b'.blink(), 'x'.fontsize(3)];
