//// iso texts
return ["2024-02-29", "2024-02-29T12:30", "2024-02-29T12:30:15.123Z", "2024-02-29T12:30+02:00", "2024", "2024-13-01", "2023-02-30", "-000001-01-01T00:00:00Z", "+010000-01-01T00:00:00Z"].map(s => { const t = Date.parse(s); return isNaN(t) ? null : t; });

//// texts that are not iso
return ["Jan 5, 2024", "5 January 2024 10:00", "Fri, 05 Jan 2024 10:00:00 GMT", "2024/01/05", "01/05/2024", "January 5, 2024 3:04 PM", "nope", "2024-1-5"].map(s => { const d = new Date(s); return isNaN(d) ? null : d.toISOString(); });

//// parts, local and utc
const d = new Date("2024-03-10T15:16:17.018Z");
return [d.getFullYear(), d.getMonth(), d.getDate(), d.getDay(), d.getHours(), d.getMinutes(), d.getSeconds(), d.getMilliseconds(), d.getUTCDay(), d.getTimezoneOffset(), d.getTime()];

//// overflow of parts
return [new Date(2024, 0, 32), new Date(2024, 12, 1), new Date(2024, 2, 0), new Date(2024, 0, 1, 25), new Date(99, 0), new Date(2024, -1)].map(d => d.toISOString());

//// adding months clamps by hand
const add = (iso, n) => { const d = new Date(iso + "T00:00:00Z"), day = d.getUTCDate(); d.setUTCDate(1); d.setUTCMonth(d.getUTCMonth() + n); const last = new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate(); d.setUTCDate(Math.min(day, last)); return d.toISOString().slice(0, 10); };
return [add("2024-01-31", 1), add("2023-01-31", 1), add("2024-11-30", 3), add("2024-03-31", -1)];

//// days between
const days = (a, b) => Math.round((Date.parse(b) - Date.parse(a)) / 864e5);
return [days("2024-02-28", "2024-03-01"), days("2023-02-28", "2023-03-01"), days("2024-12-31", "2024-01-01"), days("1970-01-01", "2024-01-01")];

//// business days
let n = 0;
for (let d = new Date("2024-05-01"); d <= new Date("2024-05-31"); d.setDate(d.getDate() + 1)) if (![0, 6].includes(d.getDay())) n++;
return n;

//// iso week
const week = s => { const d = new Date(s); d.setUTCDate(d.getUTCDate() + 4 - (d.getUTCDay() || 7)); return Math.ceil(((d - Date.UTC(d.getUTCFullYear(), 0, 1)) / 864e5 + 1) / 7); };
return ["2024-01-01", "2023-01-01", "2020-12-31", "2024-12-30"].map(week);

//// group by month
const rows = [["2024-01-05", 1], ["2024-02-01", 2], ["2024-01-31", 3]];
return rows.reduce((o, [d, v]) => { const k = new Date(d).toISOString().slice(0, 7); o[k] = (o[k] ?? 0) + v; return o; }, {});

//// sort by date and filter a range
const ds = ["2024-03-01T00:00:00Z", "2023-12-31T23:59:59Z", "2024-01-15"].map(s => new Date(s));
return ds.filter(d => d >= new Date("2024-01-01")).sort((a, b) => a - b).map(d => d.toJSON());

//// relative time by hand
const now = Date.UTC(2024, 0, 10), ago = ms => { for (const [u, n] of [["day", 864e5], ["hour", 36e5], ["minute", 6e4]]) { const k = Math.floor(ms / n); if (k) return `${k} ${u}${k > 1 ? "s" : ""} ago`; } return "just now"; };
return [5e3, 61e3, 7.3e6, 2e8].map(ago);

//// invalid dates
const d = new Date("x");
return [d.getTime(), d.getFullYear(), isNaN(d), String(d), d.toJSON(), (() => { try { d.toISOString(); } catch (e) { return e.name; } })(), JSON.stringify({ d })];

//// date texts
const d = new Date(Date.UTC(2024, 0, 5, 9, 8, 7));
return [d.toISOString(), d.toUTCString(), d.toString(), d.toDateString(), d.toTimeString(), JSON.stringify(d), `${d}`.length, d.valueOf()];

//// setters return time
const d = new Date(0);
return [d.setFullYear(2024), d.setMonth(1), d.setDate(30), d.setHours(1, 2, 3, 4), d.setTime(5), d.setMinutes(90), d.setUTCSeconds(-1)];

//// dates coerce
const a = new Date(1000), b = new Date(2000);
return [b - a, +a, a < b, a == new Date(1000), a + 1 === String(a) + "1", typeof (a + 1), typeof Date(), a[Symbol.toPrimitive]("number")];

//// leap years
return [1900, 2000, 2023, 2024].map(y => new Date(y, 1, 29).getMonth() === 1);

//// calendar of a month
const y = 2024, m = 1, first = new Date(y, m, 1).getDay(), n = new Date(y, m + 1, 0).getDate(), rows = [];
let row = Array(first).fill("  ");
for (let d = 1; d <= n; d++) { row.push(String(d).padStart(2)); if (row.length === 7) { rows.push(row.join(" ")); row = []; } }
if (row.length) rows.push(row.join(" "));
return rows;

//// epoch seconds and durations
const f = s => [s / 3600, s / 60 % 60, s % 60].map(x => String(Math.floor(x)).padStart(2, "0")).join(":");
return [new Date(1700000000 * 1000).toISOString(), f(3661), f(86399), f(0.5)];

//// iso durations
const p = s => { const m = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(s); return m ? m.slice(1).map(x => +(x ?? 0)).reduce((t, v, i) => t + v * [86400, 3600, 60, 1][i], 0) : null; };
return ["P1DT2H", "PT90M", "PT5S", "nope"].map(p);

//// extremes
return [new Date(8.64e15).toISOString(), isNaN(new Date(8.64e15 + 1)), new Date(-1).toISOString(), new Date(-62198755200000).toISOString(), new Date(0, 0).getFullYear()];

//// age
const age = (b, n) => { const [x, y] = [b, n].map(s => new Date(s)); let a = y.getUTCFullYear() - x.getUTCFullYear(); if (y.getUTCMonth() < x.getUTCMonth() || y.getUTCMonth() === x.getUTCMonth() && y.getUTCDate() < x.getUTCDate()) a--; return a; };
return [age("2000-02-29", "2024-02-28"), age("2000-02-29", "2024-02-29"), age("1999-12-31", "2000-01-01")];

//// now is a number and goes on
const t = Date.now();
return [Number.isInteger(t), t > 1.6e12, Math.abs(new Date() - t) < 1000];

//// date in template and key
const o = { [new Date(0)]: 1 };
return [Object.keys(o)[0], new Date(2024, 5).toISOString(), new Date(new Date(5)).getTime(), new Date(null).getTime(), isNaN(new Date(undefined))];

//// quarters
return ["2024-01-31", "2024-04-01", "2024-12-31"].map(s => `Q${Math.floor(new Date(s).getUTCMonth() / 3) + 1}`);

//// nth weekday of a month
const nth = (y, m, wd, n) => { const d = new Date(Date.UTC(y, m, 1)); d.setUTCDate(1 + (7 + wd - d.getUTCDay()) % 7 + (n - 1) * 7); return d.toISOString().slice(0, 10); };
return [nth(2024, 10, 4, 4), nth(2024, 0, 1, 3), nth(2024, 4, 1, 1)];

//// overlap of intervals
const iv = [["09:00", "10:30"], ["10:00", "11:00"], ["12:00", "13:00"]].map(p => p.map(t => new Date(`2024-01-01T${t}Z`).getTime())).sort((a, b) => a[0] - b[0]);
return iv.reduce((out, [s, e]) => { const l = out.at(-1); if (l && s <= l[1]) l[1] = Math.max(l[1], e); else out.push([s, e]); return out; }, []).map(p => p.map(t => new Date(t).toISOString().slice(11, 16)));

//// which texts are dates
return [
  '1704164645000', '170416464', '99999', '12345', '1704164645', '2024-01-02T03:04:05,678Z', '2024-01-02t03:04:05z',
  '2024-01-02T03:04:05.Z', '2024-01-02 03:04:05.678', '2024-01-02 03:04:05Z', '2024-01-02 03:04:05 +0200',
  '2024-01-02 03:04:05+02:00', '2024-01-02T03:04+02', '2024/1/2 3:04', '12/25/2024 5:30 PM', '12/25/2024, 5:30:00 PM',
  '12-25-2024', '25 Dec 2024 17:30:00 +0100', 'December 25 2024', 'Dec 25 2024 5pm', '2024-12-25T17:30:00 GMT',
  'Wed Dec 25 17:30:00 UTC 2024', 'Wed, 25 Dec 2024 17:30:00 EST', '25-12-2024', '2024-366', '0', '1', '32', '49', '50', '70',
  '12', '13', 'May', 'May 5', '5 May', '10:00', '2024-01-02 24:00', '2024-1-2T3:4:5', '2024-01-02T3:04:05', '  2024-01-02  ',
  '2024-01-02\n', '(comment) 2024-01-02', '2024-01-02 (comment)', 'Thu, 01 Jan 1970 00:00:00 GMT+0200', '1 2 3', '1/2',
  '1.2.2024', '2024-00-10', '2024-01-00', '2024-01-32', '2024-01-31T23:59:60Z', '2024-01-31T23:60:00Z',
  '2024-01-01T00:00:00+24:00', '2024-01-01T00:00:00+23:59', '20240102T030405Z', '2024-01-02T030405Z', 'Tomorrow', 'Q1 2024',
  '1st Jan 2024', 'January 1st, 2024', 'Jan. 5, 2024', 'Sept 5, 2024', 'Monday 5 Feb 2024', 'abc 2024', 'abc 5 2024',
  'x2024-01-01', '2024-01-01x', '2024年1月2日', 'null', 'undefined', '2024-01-02T03:04:05.678901+05:30', '+2024-01-01',
  '-002024-01-01', '-000000-01-01T00:00:00Z', '2024-01-02T03:04:05 +0000', '1970-01-01T00:00:00.0000000Z', '3/14/15 9:26:53',
  '11/11/1999', '1/1/49', '1/1/50', '1/1/100', '99', '100', '2024-06-15T12:00:00 PDT', 'Jun 15 2024 12:00 PDT',
  'Jun 15 2024 12:00:00 AM', 'Jun 15 2024 12:00 pm Z', '2024-06-15 12:00:00 America/New_York', '2024-06-15T12:00:00[UTC]',
  '15.06.2024 12:00', '2024, June 15', 'June 2024 15', 'Sat, 15 June 2024', '06-15-24', '2024-6', '6/2024', '2024/6',
  '2024/06/15T10:00', '2024-06-15T', '2024-06T10:00Z', '2024T10:00Z', '2024-01-02', '2024-01-02T03:04', '2024-01-02T03:04:05',
  '2024-01-02T03:04:05.678Z', '2024-01-02T03:04:05+05:30', '2024-01-02 03:04:05', '2024/01/02', '01/02/2024', '1/2/24',
  'Jan 2, 2024', '2 Jan 2024', 'January 2, 2024 3:04 PM', 'Tue, 02 Jan 2024 03:04:05 GMT', 'Tue Jan 02 2024 03:04:05 GMT+0100',
  'Tue Jan 02 2024 03:04:05 GMT+0100 (CET)', '2024-1-2', '2024-01', '2024', '20240102', '2024-13-01', '2024-02-30',
  '2024-01-02T25:00', '2024-01-02T24:00:00Z', 'Jan 2024', '12:30', '2024-01-02T03:04:05.123456Z', '2024-01-02T03:04:05-0800',
  '2024-01-02T03:04:05 PST', '2024-01-02 03:04:05 EST', '2024-01-02 3:04 pm', '+012024-01-01T00:00:00Z', '2024-W01-1', '',
  'now', '2024-01-02Z', '2024-01-02T00Z', 'Mon, 2 Jan 2024', '2024.01.02', '02.01.2024', '31/12/2024', '2024-06-31',
  'Sat Feb 30 2024', '2 January 2024 10:00 UTC', 'Jan-02-2024', '02-Jan-2024', '2024 Jan 2', 'Jan 2 2024 10:00:00 AM',
].map(s => { const t = Date.parse(s); return `${s} => ${isNaN(t) ? "no date" : new Date(t).toISOString()}`; });

//// years of five digits
return [new Date(8.64e15).toISOString(), new Date(Date.UTC(12024, 0)).toISOString(), new Date(Date.UTC(-1, 0)).toISOString(), new Date(Date.UTC(12024, 0)).toJSON(), JSON.stringify(new Date(Date.UTC(12024, 0))), new Date('+012024-01-01').getTime(), new Date('-000001-01-01T00:00:00Z').toISOString(), new Date(Date.UTC(12024, 0)).toString(), new Date(Date.UTC(-1, 0)).toString(), new Date(Date.UTC(-1, 0)).toUTCString(), new Date(Date.UTC(20240, 5)).toUTCString(), new Date(Date.UTC(20240, 5)).toLocaleDateString()];

//// dates and times of other locales
const d = new Date(Date.UTC(2024, 2, 5, 7, 8, 9)), e = new Date(Date.UTC(2024, 10, 15, 0, 5, 9)), g = new Date(Date.UTC(2024, 10, 15, 17, 5, 9));
const opts = [[undefined], [{}], [{ year: 'numeric', month: '2-digit', day: '2-digit' }], [{ hour: '2-digit', minute: '2-digit' }], [{ hour: 'numeric', minute: '2-digit' }], [{ hour: '2-digit', minute: '2-digit', hour12: false }], [{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' }], [{ hour: '2-digit', minute: '2-digit', second: '2-digit' }], [{ timeStyle: 'short' }], [{ timeStyle: 'medium' }], [{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' }]];
const out = []; for (const l of ['en-GB', 'en-AU', 'en-IN', 'en-CA', 'de-DE', 'fr-FR', 'es-ES', 'it-IT', 'pt-BR', 'ja-JP', 'sv-SE', 'de', 'fr', 'es', 'it', 'ja', 'sv']) for (const [o] of opts) for (const x of [d, e, g]) out.push(`${l} ${JSON.stringify(o)} ${x.toLocaleString(l, o)}`);
return out;

//// dates with names, in English of other countries
const d = new Date(Date.UTC(2024, 2, 5, 7, 8, 9)), e = new Date(Date.UTC(2024, 10, 15, 0, 5, 9));
const opts = [{ year: 'numeric', month: 'long', day: 'numeric' }, { month: 'short', day: 'numeric' }, { month: 'long', year: 'numeric' }, { weekday: 'long' }, { month: 'long' }, { dateStyle: 'long' }, { dateStyle: 'medium' }, { dateStyle: 'medium', timeStyle: 'short' }, { day: '2-digit', month: 'short', year: 'numeric' }, { year: 'numeric', month: 'long', day: 'numeric', hour: '2-digit', minute: '2-digit' }, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }];
const out = []; for (const l of ['en-GB', 'en-AU', 'en-IN', 'en-CA']) for (const o of opts) for (const x of [d, e]) out.push(`${l} ${JSON.stringify(o)} ${x.toLocaleString(l, o)}`);
for (const l of ['en-GB', 'en-IN', 'en-CA']) out.push(d.toLocaleDateString(l, { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }), d.toLocaleDateString(l, { dateStyle: 'full' }));
for (const l of ['en-GB', 'fr-FR', 'en-CA', 'sv-SE', 'pt-BR']) out.push(d.toLocaleDateString(l, { dateStyle: 'short' }));
return out;

//// dates by their locale
const d = new Date(Date.UTC(2024, 2, 5, 7, 8, 9)); const out = [];
for (const l of ['en-CA', 'sv-SE', 'en-GB', 'de-DE', 'ja-JP']) out.push(d.toLocaleDateString(l), d.toLocaleTimeString(l), d.toLocaleDateString(l, { timeZone: 'Asia/Tokyo' }), d.toLocaleString(l, { timeZone: 'America/New_York' }), new Intl.DateTimeFormat(l).format(d), new Intl.DateTimeFormat(l, { year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(d).map(p => p.value).join(''), new Intl.DateTimeFormat(l).resolvedOptions().locale);
return [out, d.toLocaleString('sv-SE').replace(' ', 'T'), new Intl.DateTimeFormat('en-CA', { hour: 'numeric', minute: 'numeric' }).resolvedOptions().hourCycle];
