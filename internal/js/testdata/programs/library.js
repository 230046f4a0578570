//// URL parts
const u = new URL("https://user:pw@example.com:8080/a/b/../c%20d?x=1&y=2#frag");
return [u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.origin, u.protocol, u.username, u.href];

//// URL relative and default ports
return [new URL("../x?q#h", "http://h/a/b/c").href, new URL("//o/p", "https://h").href, new URL("HTTP://EX.com:80/").href, new URL("https://x.y").pathname, (() => { try { new URL("nope"); } catch (e) { return e.name; } })()];

//// URLSearchParams
const p = new URLSearchParams("a=1&b=2&a=3&c=x%20y+z");
p.append("d", "ä&b"); p.delete("b"); p.set("c", "n");
return [p.getAll("a"), p.get("zz"), p.has("d"), p.toString(), [...p.keys()]];

//// URLSearchParams of objects
const u = new URL("https://api.x/y"); u.searchParams.set("q", "a b"); u.searchParams.append("page", 2);
return [String(u), new URLSearchParams({ a: 1, b: "x=y" }).toString(), new URLSearchParams([["k", "v"], ["k", "w"]]).toString()];

//// text to bytes and back
const b = new TextEncoder().encode("aé€😀");
return [[...b], new TextDecoder().decode(b), new TextDecoder().decode(new Uint8Array([0xff, 0x41]))];

//// base64
return [btoa("hello"), atob("aGk="), btoa(""), (() => { try { btoa("é€"); } catch (e) { return e.name; } })(), btoa(String.fromCharCode(...new TextEncoder().encode("é")))];

//// random ids
const id = crypto.randomUUID();
return [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id), id !== crypto.randomUUID()];

//// performance.now
const t = performance.now(); for (let i = 0; i < 1e4; i++);
const d = performance.now() - t;
return [typeof t, d >= 0, d < 5000];

//// numbers for people
return [(1234567.891).toLocaleString("en-US"), (1234.5).toLocaleString(), (0.256).toLocaleString("en-US", { style: "percent" }), (1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" }), (5).toLocaleString("en-US", { minimumIntegerDigits: 2 }), (1e9).toLocaleString("en-US", { notation: "compact" })];

//// Intl.NumberFormat
const f = (o, n) => new Intl.NumberFormat("en-US", o).format(n);
return [f({ maximumFractionDigits: 1 }, 3.14159), f({ style: "currency", currency: "EUR" }, -9.5), f({ style: "unit", unit: "kilometer" }, 12), f({ minimumFractionDigits: 2 }, 5), f({ notation: "compact" }, 1234567), f({ signDisplay: "always" }, 3), f({ useGrouping: false }, 12345), f({ style: "percent", maximumFractionDigits: 1 }, 0.1234), f({ maximumSignificantDigits: 3 }, 123456)];

//// dates for people
const d = new Date(Date.UTC(2024, 0, 5, 15, 4, 9));
return [d.toLocaleDateString("en-US"), d.toLocaleTimeString("en-US"), d.toLocaleString("en-US"), d.toLocaleDateString("en-US", { weekday: "long", year: "numeric", month: "long", day: "numeric" }), d.toLocaleDateString("en-US", { month: "short", day: "2-digit" }), d.toLocaleTimeString("en-US", { hour: "2-digit", minute: "2-digit", hour12: false })].map(s => s.replace(/\u202f/g, " "));

//// time zones
const d = new Date(Date.UTC(2024, 6, 1, 12));
return ["America/New_York", "Asia/Tokyo", "Europe/Berlin", "UTC"].map(timeZone => new Intl.DateTimeFormat("en-US", { timeZone, hour: "numeric", day: "numeric", timeZoneName: "short" }).format(d).replace(/\u202f/g, " "));

//// formatToParts
return new Intl.DateTimeFormat("en-US", { year: "numeric", month: "2-digit", day: "2-digit", timeZone: "UTC" }).formatToParts(new Date(0)).map(p => `${p.type}=${p.value}`);

//// natural sorting
return ["f10", "f2", "F1", "é", "e", "z"].sort((a, b) => a.localeCompare(b, undefined, { numeric: true, sensitivity: "base" }));

//// plain localeCompare
return ["b", "a", "B", "A", "ä", "z", "_", "1"].sort((a, b) => a.localeCompare(b));

//// a collator
const c = new Intl.Collator("en", { numeric: true });
return [["v10", "v9", "v1"].sort(c.compare), "a".localeCompare("A", "en", { sensitivity: "base" }), "a".localeCompare("á", "en", { sensitivity: "accent" }) !== 0];

//// plural rules
const p = new Intl.PluralRules("en-US"), o = new Intl.PluralRules("en-US", { type: "ordinal" });
return [[0, 1, 2].map(n => p.select(n)), [1, 2, 3, 4, 11, 21].map(n => o.select(n))];

//// relative time
const r = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
return [r.format(-1, "day"), r.format(2, "week"), r.format(0, "month"), r.format(-3, "hour")];

//// lists
return [new Intl.ListFormat("en", { style: "long", type: "conjunction" }).format(["a", "b", "c"]), new Intl.ListFormat("en", { type: "disjunction" }).format(["x", "y"])];

//// the zone of this place
return Intl.DateTimeFormat().resolvedOptions().timeZone;

//// escape and unescape
return [escape("ä b+%u€"), unescape("%E4%u20AC"), encodeURI("http://x/ä?q=a b&c"), decodeURI("%41%2F"), encodeURIComponent("!'()*~-_.")];

//// globalThis and undeclared names
undeclared = 5;
return [globalThis.undeclared, typeof globalThis, delete globalThis.undeclared, typeof undeclared];

//// eval and Function
var x = 1;
return [eval("1 + x"), new Function("a", "b", "return a * b")(3, 4), (0, eval)("typeof x"), eval("var y = 2; y") + y];

//// console returns nothing
return [typeof console.log, typeof console.error, console.log?.("x") ?? null];

//// string methods of html and others
return ["x".anchor("a"), "x".big?.() ?? null, "abc".substr(1), "b".localeCompare("a")];

//// abort controllers
const c = new AbortController();
c.signal.addEventListener("abort", () => seen.push("abort"));
const seen = []; c.abort();
return [c.signal.aborted, seen];

//// iterating strings, arguments and typed arrays
const f = function () { return [...arguments].length; };
return [[..."a😀"], f(1, 2), [...new Uint8Array([1, 2])], Object.entries("ab"), [...[7, 8].entries()], [...[7].keys()]];
