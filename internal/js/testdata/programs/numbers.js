//// rounding to cents
const r = x => Math.round((x + Number.EPSILON) * 100) / 100;
return [1.005, 2.345, -1.005, 0.1 + 0.2, 1e21].map(r);

//// toFixed
return [1.005.toFixed(2), (1e21).toFixed(2), (0.000001).toFixed(7), (-1.5).toFixed(0), (2.5).toFixed(0), (123.456).toFixed(1), (0).toFixed(2), (-0.0001).toFixed(2), (1.45).toFixed(1), (8.345).toFixed(2)];

//// toPrecision and toExponential
return [(123.456).toPrecision(4), (0.00001).toPrecision(1), (1e21).toPrecision(3), (123456).toExponential(2), (0).toExponential(), (1.25e-7).toExponential(1), (99.99).toPrecision(3), (1e-7).toPrecision(2)];

//// numbers to text
return [1e21, 1e-7, 123456789012345680000, 0.1 + 0.2, -0, 5e-324, 1.7976931348623157e308, 100, 1 / 3, 2 ** 53, 0.000001, 4.35, 1e300 * 10].map(String);

//// radix
return [(255).toString(16), (255).toString(2), (-255).toString(36), (0.5).toString(2), (0.1).toString(3), (1e21).toString(7), (3.75).toString(8), (2 ** 53).toString(32)];

//// parseInt and its traps
return ["42px", "0x1F", "  7 ", "3.9", "", "1e3", "0b11", "-0", "９", null].map(s => String(parseInt(s))).concat(["1", "2", "3"].map(parseInt).map(String), [parseInt("z", 36), parseInt("0.0000005"), parseInt(0.0000005), parseInt("123", 5)]);

//// Number and its traps
return ["", " ", "12 ", "1,000", "0x10", "0o17", "0b101", "1_000", "Infinity", "-", ".5", "5.", "1e3", "+-1", null, undefined, true, [], [5], [1, 2], {}, "٣"].map(x => String(Number(x)));

//// parseFloat
return ["3.14abc", ".5.5", "-.5e-2x", "e5", "Infinityx", "0x10", "1e1000", "-0"].map(s => { const n = parseFloat(s); return Object.is(n, -0) ? "-0" : String(n); });

//// integers and safety
return [Number.isInteger(5.0), Number.isSafeInteger(2 ** 53), Number.MAX_SAFE_INTEGER + 2, Number.isNaN("x"), isNaN("x"), isFinite("5"), Number.isFinite("5"), 0.1 * 3 === 0.3, 9007199254740993];

//// division and remainder
return [7 % 3, -7 % 3, 7 % -3, 5.5 % 2, Math.floor(-7 / 2), Math.trunc(-7 / 2), (-7 / 2) | 0, 1 / 0, -1 / 0, 0 / 0].map(String);

//// exponent is right associative
return [2 ** 3 ** 2, (-2) ** 2, 2 ** -1, 0 ** 0, (1 - 2) ** 0.5, 10 ** 308 * 10, 10 ** -5].map(String);

//// bit operations
return [5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 31, 1 << 32, -1 >>> 0, -1 >>> 28, 2 ** 32 >> 0, 2 ** 31 | 0, 1e10 | 0, NaN | 0, "7" << 1];

//// Math of every kind
return [Math.hypot(3, 4), Math.cbrt(27), Math.sign(-3), Math.log2(8), Math.log10(1000), Math.log1p(0), Math.fround(5.5), Math.clz32(1), Math.imul(0xffffffff, 5), Math.expm1(0), Math.atan2(1, 1), Math.sinh(0), Math.trunc(4.7)];

//// Math.round at halves
return [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 2 ** 52 + 0.5, -0.2].map(x => { const r = Math.round(x); return Object.is(r, -0) ? "-0" : r; });

//// max and min of many
const a = Array.from({ length: 10000 }, (_, i) => (i * 7919) % 10007);
return [Math.max(...a), Math.min(...a), Math.max.apply(null, a), Math.max("5", [7]), Math.max(1, undefined)].map(String);

//// currency by hand
const fmt = n => (n < 0 ? "-" : "") + "$" + Math.abs(n).toFixed(2).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
return [1234567.891, -42, 999.999, 0.5].map(fmt);

//// human sizes
const h = n => { const u = ["B", "KB", "MB", "GB"]; let i = 0; while (n >= 1024 && i < 3) { n /= 1024; i++; } return `${+n.toFixed(1)} ${u[i]}`; };
return [0, 1023, 1024, 1536, 123456789, 5e12].map(h);

//// percentages that sum to 100
const xs = [1, 1, 1], t = 3, raw = xs.map(x => x / t * 100), fl = raw.map(Math.floor);
let rest = 100 - fl.reduce((a, b) => a + b);
return raw.map((r, i) => [r - fl[i], i]).sort((a, b) => b[0] - a[0]).reduce((o, [, i]) => { o[i] = fl[i] + (rest-- > 0 ? 1 : 0); return o; }, []);

//// compound interest
let b = 1000;
return Array.from({ length: 5 }, () => +(b *= 1.05).toFixed(2));

//// primes
const n = 60, s = Array(n + 1).fill(true, 2);
for (let i = 2; i * i <= n; i++) if (s[i]) for (let j = i * i; j <= n; j += i) s[j] = false;
return s.map((p, i) => p === true ? i : 0).filter(Boolean);

//// gcd, lcm, factorial
const gcd = (a, b) => b ? gcd(b, a % b) : a, lcm = (a, b) => a / gcd(a, b) * b, f = n => n < 2 ? 1 : n * f(n - 1);
return [gcd(84, 36), lcm(21, 6), f(20), f(25), f(170), f(171)].map(String);

//// fibonacci past the safe integers
let a = 0, b = 1;
for (let i = 0; i < 90; i++) [a, b] = [b, a + b];
return [a, String(a)];

//// BigInt arithmetic
const f = n => n < 2n ? 1n : n * f(n - 1n);
return [f(25n), 2n ** 100n, -7n / 2n, -7n % 3n, 5n & 3n, ~5n, 1n << 70n, BigInt(2 ** 53) + 1n, BigInt("0xff"), BigInt.asIntN(8, 255n), BigInt.asUintN(8, -1n)].map(String);

//// BigInt beside numbers
return [1n < 2, 2n == 2, 2n === 2, typeof 1n, [3n, 1, 2n].sort().map(String), (() => { try { return 1n + 1; } catch (e) { return e.name; } })(), Number(123n), parseInt("9007199254740993n"), BigInt.asUintN(64, -1n).toString(16)];

//// BigInt of odd things
return ["1.5", "", " 12 ", "abc", 1.5, null, true].map(x => { try { return String(BigInt(x)); } catch (e) { return e.name; } });

//// BigInt in JSON throws
try { return JSON.stringify({ a: 1n }); } catch (e) { return e.name; }

//// random is in range and seeded elsewhere
const xs = Array.from({ length: 100 }, Math.random);
return xs.every(x => x >= 0 && x < 1) && new Set(xs).size > 90;

//// linear regression
const p = [[1, 2], [2, 4.1], [3, 5.9], [4, 8.2]], n = p.length;
const sx = p.reduce((a, [x]) => a + x, 0), sy = p.reduce((a, [, y]) => a + y, 0), sxy = p.reduce((a, [x, y]) => a + x * y, 0), sxx = p.reduce((a, [x]) => a + x * x, 0);
const m = (n * sxy - sx * sy) / (n * sxx - sx * sx);
return { m: +m.toFixed(6), b: +((sy - m * sx) / n).toFixed(6) };

//// distance on a globe
const rad = d => d * Math.PI / 180, R = 6371;
const [a, b, c, d] = [52.52, 13.405, 48.8566, 2.3522].map(rad);
const h = Math.sin((c - a) / 2) ** 2 + Math.cos(a) * Math.cos(c) * Math.sin((d - b) / 2) ** 2;
return Math.round(2 * R * Math.asin(Math.sqrt(h)));

//// a hash
let h = 5381;
for (const c of "hello world") h = (h * 33 + c.charCodeAt(0)) >>> 0;
let f = 0x811c9dc5;
for (const c of "hello world") f = Math.imul(f ^ c.charCodeAt(0), 0x01000193) >>> 0;
return [h, f.toString(16)];

//// crc32
const t = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
let c = -1;
for (const b of "123456789") c = t[(c ^ b.charCodeAt(0)) & 255] ^ (c >>> 8);
return ((c ^ -1) >>> 0).toString(16);

//// luhn
const ok = s => [...s.replace(/\D/g, "")].reverse().reduce((t, d, i) => { d = +d; if (i % 2) d = d > 4 ? d * 2 - 9 : d * 2; return t + d; }, 0) % 10 === 0;
return ["4539 1488 0343 6467", "8273 1232 7352 0569"].map(ok);

//// numeric separators and other literals
return [1_000_000, 0xff_ff, 0b1010, 0o17, .5, 5., 1e-3, 0.1e2];

//// loose equality table
const v = [0, "", "0", false, null, undefined, [], "a", NaN];
return v.map(a => v.map(b => a == b ? 1 : 0).join(""));

//// typeof everything
return [1, "", true, undefined, null, {}, [], () => {}, Symbol(), 1n, class {}, new Date(), /x/, NaN].map(x => typeof x);

//// addition and coercion
return [1 + "2", "3" * "4", 1 + null, 1 + undefined, [] + {}, [1] + [2], true + true, "5" - 2, +"", +[], "b" + "a" + +"a" + "a", 1 + +"1", null + "", `${[1, 2]}`].map(String);

//// nullish, or, and
return [0 ?? 1, 0 || 1, "" ?? "x", null ?? "y", undefined?.a ?? "z", null?.[0]?.b.c.d ?? "w", false && x, (0, 5)];

//// increments and compound assignments
let a = 5, s = "5", o = { n: null, z: 0 };
const r = [a++, ++a, a--, --a, s++, s, (a **= 2), (a %= 7), (a <<= 3), (a >>>= 1)];
o.n ??= 1; o.z ||= 2; o.z &&= 3;
return [r, o];

//// numbers of big integers
return [Number(2n ** 53n), Number(2n ** 64n), Number(-(2n ** 70n)), Number(12345678901234567890n), Number(2n ** 1024n), parseInt(2n ** 70n), Number(BigInt(Number.MAX_SAFE_INTEGER) + 2n), Math.round(Number(9007199254740993n)), new Number(2n ** 65n).valueOf(), isFinite(Number(10n ** 400n)), Number(9223372036854775808n), Number(-9223372036854775809n), [2n ** 64n].map(Number)].map(String);

//// big integers and numbers compared
return [2n ** 64n > 1e19, 2n ** 64n == 18446744073709551616, 2n ** 64n < 2 ** 63, 2n ** 64n == '18446744073709551616', 10n ** 20n > '5', 1n == true, [2n, 1, 3n].sort((a, b) => (a < b ? -1 : 1)).map(String), 2n > NaN, 2n < Infinity, BigInt(1e22), BigInt(Number.MAX_VALUE).toString().length].map(x => String(x));

//// short ids
const id = (123456.789).toString(36), r = (0.123456789).toString(36).slice(2), r2 = (0.5).toString(36), r3 = (1/3).toString(36).substring(2, 10), r4 = (Math.PI).toString(16), r5 = (1e-7).toString(36), r6 = (1e21).toString(36), r7 = (-255.75).toString(16), r8 = (0.1).toString(16), r9=(1e300).toString(36), r10 = (1700000000000.123).toString(36), ra=(2**53+2).toString(36), rb=(1e22).toString(2), rc=(5e-324).toString(2).length, rd=(1.7976931348623157e308).toString(16).length;
return [id, r, r2, r3, r4, r5, r6, r7, r8, r9, r10, ra, rb, rc, rd];
