package js_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sandboxd/sandboxd/internal/js"
)

// TestRegExp holds what programs see of regular expressions against node's answers.
func TestRegExp(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`return 'a\r\nb'.match(/^.*$/gm)`, `ok ["a","","b"]`},
		{`return ['é1', '1'].map(s => /\p{L}/u.test(s))`, `ok [true,false]`},
		{`return 'né'.split(/\b/)`, `ok ["n","é"]`},
		{`return [/\u212a/i.test('k'), /\u212a/iu.test('k')]`, `ok [false,true]`},
		{`const s = '"' + 'a'.repeat(20000) + '"'; return /"(?:[^"\\]|\\.)*"/.exec(s)[0].length`, `ok 20002`},
		{`const m = /(?<y>\d{4})-(?<m>\d\d)/d.exec('on 2024-05'); return [m.index, m.input, m.groups, m.indices, m.indices.groups.m]`, `ok [3,"on 2024-05",{"y":"2024","m":"05"},[[3,10],[3,7],[8,10]],[8,10]]`},
		{`return Object.keys(/(a)(?<b>b)?/d.exec('a'))`, `ok ["0","1","2","index","input","groups","indices"]`},
		{`return [...'a1b22'.matchAll(/[a-z](\d+)/g)].map(m => [m[1], m.index])`, `ok [["1",0],["22",2]]`},
		{"return 'aBc'.replace(/b/i, x => `[${x}]`)", `ok "a[B]c"`},
		{"return '2024-05-06'.replace(/(\\d+)-(\\d+)-(\\d+)/, '$3.$2.$1 $$ $& $` $\\' $0 $4 $10 $<x>')", `ok "06.05.2024 $ 2024-05-06   $0 $4 20240 $<x>"`},
		{`return 'ab'.replace(/(?<x>a)(?<y>z)?/, '[$<x>|$<y>|$<z>]')`, `ok "[a||]b"`},
		{`return 'ab'.replace(/(?<x>a)/, (...args) => JSON.stringify(args))`, `ok "[\"a\",\"a\",0,\"ab\",{\"x\":\"a\"}]b"`},
		{`return 'aaa'.replaceAll(/a/g, (m, at) => at)`, `ok "012"`},
		{`return 'xaxa'.replace(/a/gy, '-') + 'aaxa'.replace(/a/gy, '-')`, `ok "xaxa--xa"`},
		{`return ['a, b ,c'.split(/\s*,\s*/), 'abc'.split(/(?:)/), 'a1b2'.split(/(\d)/), 'a1b2'.split(/(\d)/, 3), ''.split(/x/), ''.split(/(?:)/), 'ab'.split(/(x)?/)]`, `ok [["a","b","c"],["a","b","c"],["a","1","b","2",""],["a","1","b"],[""],[],["a",null,"b"]]`},
		{`return [/(.+)b\1/u.exec('\ud834b\ud834\udc00'), /(?<=\1b(.+))$/u.exec('\ud834\udc00b\udc00'), /(.+)b\1/u.exec('\ud834b\ud834x')]`, `ok [null,null,["\ud834b\ud834","\ud834"]]`},
		{`return [String(RegExp), Function.prototype.toString.call(RegExp), String(x => x)]`, `ok ["function RegExp() { [native code] }","function RegExp() { [native code] }","x => x"]`},
		{`return '😀x'.split(/(?:)/u).map(s => s.length)`, `ok [2,1]`},
		{`return ['abc'.search(/c/), 'abc'.search(/x/g), 'abc'.search('b'), 'abc'.search()]`, `ok [2,-1,1,0]`},
		{`const re = /a/g; return [re.test('aa'), re.lastIndex, re.test('aa'), re.lastIndex, re.test('aa'), re.lastIndex]`, `ok [true,1,true,2,false,0]`},
		{`const re = /a/y; re.lastIndex = 1; return [re.test('ba'), re.lastIndex, re.test('ba'), re.lastIndex]`, `ok [true,2,false,0]`},
		{`const re = /a/; re.lastIndex = 5; return [re.test('a'), re.lastIndex]`, `ok [true,5]`},
		{`const re = /a/g; re.lastIndex = 7; return ['banana'.match(re), re.lastIndex]`, `ok [["a","a","a"],0]`},
		{`return [String(/a\/[/]\n/gi), new RegExp('/').source, new RegExp('\n').source, new RegExp('').source, String(new RegExp('[/]', 'y'))]`, `ok ["/a\\/[/]\\n/gi","\\/","\\n","(?:)","/[/]/y"]`},
		{`return Object.getOwnPropertyDescriptor(/a/, 'lastIndex')`, `ok {"value":0,"writable":true,"enumerable":false,"configurable":false}`},
		{`return ['source', 'flags', 'global', 'hasIndices', 'unicodeSets'].map(k => RegExp.prototype[k])`, `ok ["(?:)","",null,null,null]`},
		{`return [typeof RegExp, RegExp.length, RegExp.name, RegExp.prototype.constructor === RegExp, RegExp[Symbol.species] === RegExp, /a/ instanceof RegExp, Object.prototype.toString.call(/a/), RegExp.prototype.toString()]`, `ok ["function",2,"RegExp",true,true,true,"[object RegExp]","/(?:)/"]`},
		{`const re = /a/g; return [RegExp(re) === re, new RegExp(re) === re, new RegExp(re).flags, new RegExp(re, 'i').flags, RegExp('a') instanceof RegExp]`, `ok [true,false,"g","i",true]`},
		{`return ['gimsuyd', 'gv'].map(f => new RegExp('a', f).flags)`, `ok ["dgimsuy","gv"]`},
		{`try { new RegExp('a', 'uv') } catch (e) { return [e.name, e.message] }`, `ok ["SyntaxError","Invalid flags supplied to RegExp constructor 'uv'"]`},
		{`try { new RegExp('(') } catch (e) { return [e.name, e.message] }`, `ok ["SyntaxError","Invalid regular expression: /(/: Unterminated group"]`},
		{`try { 'a'.match('[') } catch (e) { return [e.name, e.message] }`, `ok ["SyntaxError","Invalid regular expression: /[/: Unterminated character class"]`},
		{`class R extends RegExp { exec(s) { const m = super.exec(s); if (m) m[0] = m[0].toUpperCase(); return m } } const r = new R('b', 'g'); return [r.test('abc'), r instanceof R, 'abcb'.match(r), r.constructor === R, 'abcb'.replace(new R('b'), '[$&]')]`, `ok [true,true,["B","B"],true,"a[B]cb"]`},
		{`class R extends RegExp { [Symbol.split](s, n) { return ['mine', s, n] } } return 'a-b'.split(new R('-'), 2)`, `ok ["mine","a-b",2]`},
		{`const re = /b/g; re.exec = () => null; return ['abc'.replace(re, 'x'), re.test('b'), 'abc'.match(re)]`, `ok ["abc",false,null]`},
		{`RegExp.prototype.exec = function () { return { index: 1, 0: 'bb', length: 1 } }; return ['abbc'.replace(/x/, '-'), /x/.test('y'), 'abbc'.search(/x/)]`, `ok ["a-c",true,1]`},
		{`Object.defineProperty(RegExp.prototype, 'global', { get() { return true } }); return /a/i.flags`, `ok "gi"`},
		{`RegExp.prototype[Symbol.replace] = function (s, w) { return 'patched ' + s }; return 'a'.replace(/a/, 'b')`, `ok "patched a"`},
		{`Array.prototype.push = Array.prototype.concat = null; Object.defineProperty(Array.prototype, 'index', { set() { throw 1 } }); return /b/.exec('ab').index`, `ok 1`},
		{`String.prototype.match = String.prototype.replace = null; const re = /a(b)/; return re.exec('ab')`, `ok ["ab","b"]`},
		{`globalThis.RegExp = null; return [/a/.source, 'abc'.match('b').index, 'a,b'.split(/,/)]`, `ok ["a",1,["a","b"]]`},
		{`const re = Object.freeze(/a/); return [re.test('a'), 'a'.replace(re, 'b')]`, `ok [true,"b"]`},
		{`const re = Object.freeze(/a/g); try { re.test('a') } catch (e) { return e.name }`, `ok "TypeError"`},
		{`const log = []; const re = { [Symbol.match]: undefined, [Symbol.replace](s, w) { log.push(s, w); return 'r' } }; return ['a'.replace(re, 'b'), log]`, `ok ["r",["a","b"]]`},
		{`return [/a/.exec(), /undefined/.test(), /null/.test(null), /1/.exec(1).input]`, `ok [null,true,true,"1"]`},
		{`try { RegExp.prototype.exec.call({}, 'a') } catch (e) { return e.name }`, `ok "TypeError"`},
		{`try { RegExp.prototype.test.call(1, 'a') } catch (e) { return e.name }`, `ok "TypeError"`},
		{`return RegExp.prototype.test.call({ exec: s => ({ s }) }, 'a')`, `ok true`},
		{`try { RegExp.prototype.test.call({ exec: () => 1 }, 'a') } catch (e) { return e.name }`, `ok "TypeError"`},
		{`try { Object.getOwnPropertyDescriptor(RegExp.prototype, 'global').get.call({}) } catch (e) { return e.name }`, `ok "TypeError"`},
		{`try { Object.getOwnPropertyDescriptor(RegExp.prototype, 'source').get.call(new Proxy(/a/, {})) } catch (e) { return e.name }`, `ok "TypeError"`},
		{`try { 'a'.matchAll(/a/) } catch (e) { return e.name }`, `ok "TypeError"`},
		{`try { 'a'.replaceAll(/a/, 'b') } catch (e) { return e.name }`, `ok "TypeError"`},
		{`try { 'a'.startsWith(/a/) } catch (e) { return e.name }`, `ok "TypeError"`},
		{`const it = 'aXb'.matchAll(/(?:)/gu); return [Object.prototype.toString.call(it), [...it].length, it.next().done]`, `ok ["[object RegExp String Iterator]",4,true]`},
		{`const re = /a/g; re.lastIndex = 1; const it = 'aaa'.matchAll(re); return [[...it].length, re.lastIndex]`, `ok [2,1]`},
		{`const re = /a/g; const it = 'aaa'.matchAll(re); re.compile('b'); return [...it].length`, `ok 3`},
		{`const re = /a/; re.lastIndex = 3; re.compile('b', 'g'); return [re.source, re.flags, re.lastIndex, re.test('b'), re.test('a')]`, `ok ["b","g",0,true,false]`},
		{`return eval("'xAx'.match(/(?<n>a)/i).groups.n")`, `ok "A"`},
		{`return new Function('s', 'return s.replace(/[aeiou]/g, "*")')('regular')`, `ok "r*g*l*r"`},
		{`return [1, 2].map(() => /a/g).map((re, i, all) => re === all[0])`, `ok [true,false]`},
		{`const f = () => /a/g; f().lastIndex = 3; return f().lastIndex`, `ok 0`},
		{`return 'abcabc'.replace(/b/g, () => 'abc'.replace(/c/, 'x'))`, `ok "aabxcaabxc"`},
		{`const re = /./g; return 'abc'.replace(re, () => { re.lastIndex = 9; return 'x' }) + re.lastIndex`, `ok "xxx9"`},
		{`return structuredClone([/a/gi])[0].test('A')`, `ok true`},
		{"return [/[/]/.test('/'), 4 / 2 / 1, `${/}/.source}`, ((a) => a)(/\\)/).source, (() => /x/)().source, [/=/].length, !/a/.test('b')]", `ok [true,2,"}","\\)","x",1,true]`},
		{`return 'ÀÉÎ'.toLowerCase().replace(/[à-ÿ]/g, c => c.normalize('NFD')[0])`, `ok "aei"`},
		{`return 'aé\u{1F600}'.replace(/./gu, c => c.codePointAt(0).toString(16) + ' ')`, `ok "61 e9 1f600 "`},
		{`return [...'\u{1F600}a'.matchAll(/(?:)/gv)].length`, `ok 3`},
		{`return '\ud83d'.replace(/\ud83d/, 'x') + '😀'.replace(/\ud83d/u, 'x').length`, `ok "x2"`},
		{`const big = 'é'.repeat(100000); let n = 0; const re = /é/g; while (re.exec(big)) n++; return n`, `ok 100000`},
		{`return 'aaa'.lastIndexOf('a') + 'x'.padEnd(3, 'ab').match(/a.*/)[0]`, `ok "2ab"`},
		{`return Array.from('a-b_c'.matchAll(/[a-z]/g), m => m[0]).join('')`, `ok "abc"`},
		{`return JSON.stringify({ a: /x/, b: [/y/] })`, `ok "{\"a\":{},\"b\":[{}]}"`},
		{`return new RegExp({ toString: () => 'a+' }).exec('caat')[0]`, `ok "aa"`},
		{`return new RegExp({ [Symbol.match]: true, source: 'q', flags: 'i', constructor: 1 }).toString()`, `ok "/q/i"`},
		{`return 'x'.replace('x', '$&$&') + 'a.b'.replace('.', '-')`, `ok "xxa-b"`},
	} {
		if out, _ := source(t, c.text); brief(out) != c.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", c.text, brief(out), c.want)
		}
	}
}

// TestNewRegExp holds what the node of the table above does not know, by the standard.
func TestNewRegExp(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`return [/(?i:a)b/.test('Ab'), /(?i:a)b/.test('aB')]`, "ok [true,false]"},
		{`return ['x1', '2y'].map(s => s.match(/x(?<n>\d)|(?<n>\d)y/).groups.n)`, `ok ["1","2"]`},
		{`return '2y'.replace(/x(?<n>\d)|(?<n>\d)y/, '<$<n>>')`, `ok "<2>"`},
		{`return Object.keys(/x(?<n>\d)|(?<n>\d)y/d.exec('2y').indices.groups)`, `ok ["n"]`},
		{`return RegExp.escape('a.b*c d-é\n\u2028😀\ud800')`, `ok "\\x61\\.b\\*c\\x20d\\x2dé\\n\\u2028😀\\ud800"`},
		{`try { RegExp.escape(1) } catch (e) { return e.name }`, `ok "TypeError"`},
		{`const s = '[x](y)$^'; return new RegExp(RegExp.escape(s), 'v').exec('a' + s).index`, "ok 1"},
	} {
		if out, _ := source(t, c.text); brief(out) != c.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", c.text, brief(out), c.want)
		}
	}
}

// A pattern that is none is an error before the program runs, at the place in the pattern.
func TestRegExpErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"literal", "console.log(1)\nreturn /a(b/.test('x')", "error 2:10 SyntaxError: Invalid regular expression: /a(b/: Unterminated group"},
		{"never reached", "if (0) /(?<a>.)(?<a>.)/; return 1", "error 1:19 SyntaxError: Invalid regular expression: /(?<a>.)(?<a>.)/: Duplicate capture group name"},
		{"flags", "return /a/gg", "error 1:8 SyntaxError: Invalid regular expression flags"},
		{"behind other characters", "return /é😀[b-a]/u", "error 1:13 SyntaxError: Invalid regular expression: /é😀[b-a]/u: Range out of order in character class"},
		{"in TypeScript", "const a: number = 1\nreturn /x{2,1}/.test('x')", "error 2:8 SyntaxError: Invalid regular expression: /x{2,1}/: numbers out of order in {} quantifier"},
		{"in a template", "return `${/\\p{Foo}/u}`", "error 1:12 SyntaxError: Invalid regular expression: /\\p{Foo}/u: Invalid property name"},
		{"made by the program", "const f = s => new RegExp(s)\nf('[')", "error 1:16 SyntaxError: Invalid regular expression: /[/: Unterminated character class"},
		{"properties of strings", "return /\\p{RGI_Emoji}/v", `error 1:12 SyntaxError: Invalid regular expression: /\p{RGI_Emoji}/v: \p{RGI_Emoji} stands for strings, which is not supported`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := source(t, c.text); brief(out) != c.want {
				t.Errorf("got  %s\nwant %s", brief(out), c.want)
			}
		})
	}
}

// Whatever a program makes of regular expressions ends by a limit or an error of its own.
func TestRegExpLimits(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"catastrophic", "return /^(a+)+$/.test('a'.repeat(50) + '!')", "cpu"},
		{"in a replacement", "return 'x'.replace(/x/, () => /^(a|a)*$/.test('a'.repeat(60) + '!'))", "cpu"},
		{"caught", "for (;;) try { /^(\\w+\\s?)*$/.test('aaaa '.repeat(20) + '!') } catch {}", "cpu"},
		{"lookbehind", "return /(?<=^x(a+)+)b/.test('a'.repeat(50) + 'b')", "cpu"},
		{"foreign", "return eval('/^(a+)+$/').test('a'.repeat(50) + '!')", "cpu"},
		{"frames", "try { /(?:(a)|(b))*c/.test('a'.repeat(1 << 23)) } catch (e) { return e.name }", `ok "RangeError"`},
		{"long replacement", "try { return 'a'.repeat(1e5).replace(/a/g, 'b'.repeat(1e5)).length } catch (e) { return e.name }", "memory|cpu|ok \"RangeError\""},
		{"replacement by what is before", "return 'a'.repeat(1e6).replace(/a/g, '$`').length", "memory|error|cpu"},
		{"matches", "return 'a'.repeat(1 << 24).match(/a/g).length", "memory|cpu|ok 16777216"},
		{"empty matches for ever", "class R extends RegExp { exec() { return { 0: 'a', index: 0 } } } return 'a'.match(new R('a', 'g'))", "cpu|memory"},
		{"deep", "try { new RegExp('('.repeat(1e5)) } catch (e) { return e.name }", `ok "SyntaxError"`},
		{"long", "try { new RegExp('a'.repeat(1e6)) } catch (e) { return e.name }", `ok "SyntaxError"`},
		{"captures", "return /(?:()()()x)*/.exec('x'.repeat(1e5)).length", "ok 4"},
		{"many patterns", "for (let i = 0; i < 2500; i++) if (!new RegExp('^' + i + '$').test(String(i))) return i", "ok null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := time.Second
			if !strings.Contains(c.want, "cpu") { // the race detector makes them slow
				limit = time.Minute
			}
			out, _ := run(t, js.Program{Source: c.text, Limits: js.Limits{CPU: limit}}, nil)
			for want := range strings.SplitSeq(c.want, "|") {
				if strings.HasPrefix(brief(out), want) {
					return
				}
			}
			t.Errorf("got %s, want %s", brief(out), c.want)
		})
	}
}

// Programs of patterns are dropped when there are many, but not from under a replacement that is at work.
func TestManyPatternsInAReplacement(t *testing.T) {
	const text = `return 'ab'.replace(/(?<x>a|b)/g, (...a) => { for (let i = 0; i < 1100; i++) new RegExp(a[0] + i); return a.at(-1).x + '!' })`
	out, _ := run(t, js.Program{Source: text, Limits: js.Limits{CPU: time.Minute}}, nil)
	if got, want := brief(out), `ok "a!b!"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// RegExp objects are what the rest of the engine takes them for.
func TestRegExpElsewhere(t *testing.T) {
	out, h := source(t, "console.log(/a\\/b/gi, [new RegExp('/')], RegExp, new (class extends RegExp {})('x'))\nreturn structuredClone({ a: /x/y }).a.sticky")
	if got, want := brief(out), "ok true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := logged(h.lines), `log|/a\/b/gi [ /\// ] [Function: RegExp] /x/`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
