// Prints expressions and what node makes of them, one JSON object a line: node intl.mjs SEED COUNT. The expressions of
// the first part are always the same; COUNT more are formats of numbers and dates whose options are drawn by SEED.
// testdata/intl.jsonl is what node 20 prints for 1 and 900.
const [, , seedText, countText] = process.argv
const expressions = []
const add = (...list) => expressions.push(...list)
const at = 1704207845067 // 2024-01-02T15:04:05.067Z

for (const o of ['{}', '{dateStyle:"long"}', '{dateStyle:"medium",timeStyle:"short"}', '{hour:"numeric",minute:"numeric"}', '{year:"numeric",month:"short",day:"numeric"}', '{month:"long",day:"numeric"}', '{month:"short",year:"numeric"}', '{weekday:"short",month:"short",day:"numeric",year:"numeric"}', '{dateStyle:"full"}', '{hour:"numeric"}', '{timeStyle:"medium"}', '{year:"numeric"}']) {
  for (const later of [36e5, 864e5, 864e5 * 40, 864e5 * 400, 12 * 36e5, 0]) add(`new Intl.DateTimeFormat('en-US', {timeZone:'UTC', ...${o}}).formatRange(${at}, ${at + later})`)
}
for (const o of ['{}', '{style:"currency",currency:"USD"}', '{style:"percent"}', '{style:"unit",unit:"kilometer"}', '{notation:"compact"}', '{style:"currency",currency:"EUR",currencyDisplay:"name"}', '{signDisplay:"always"}', '{style:"unit",unit:"day",unitDisplay:"long"}']) {
  for (const [a, b] of [[1, 3], [3, 3], [-3, 5], [-5, -3], [1000, 2500], [2.9, 3.1], [0, 1]]) add(`new Intl.NumberFormat('en-US', ${o}).formatRange(${a}, ${b})`)
}
for (const style of ['long', 'short', 'narrow']) {
  for (const numeric of ['auto', 'always']) {
    for (const unit of ['second', 'minutes', 'hour', 'day', 'weeks', 'month', 'quarter', 'year']) {
      add(`['-1', '0', '-0', '1', '2', '-3', '1.5', '-1234'].map(v => new Intl.RelativeTimeFormat('en', {style:'${style}', numeric:'${numeric}'}).format(Number(v), '${unit}')).join('|')`)
    }
  }
  for (const type of ['conjunction', 'disjunction', 'unit']) {
    add(`[[], ['a'], ['a','b'], ['a','b','c'], ['a','b','c','d']].map(l => JSON.stringify(new Intl.ListFormat('en', {type:'${type}', style:'${style}'}).formatToParts(l))).join()`)
  }
}
for (const o of ['{}', '{type:"ordinal"}', '{minimumFractionDigits:1}']) add(`[0,1,2,3,4,11,12,13,21,22,23,101,111,1.5,-1,1000,1001].map(n => new Intl.PluralRules('en', ${o}).select(n)).join()`)

// Texts of Latin letters are compared by all options, others only among themselves and without: docs/javascript.md.
const latin = `['a','A','á','Á','b','B','ab','a b','a-b','a_b','file2','file10','File2','10','9','1.5','','é','e','ê','ö','o','z','Z','ñ','n','$1','1','a!','résumé','resume','Resume','ÅB','åb','x2y10','x2y9','x02y9','co-op','coop','CO-OP','ß','ss','Æ','ae']`
const simple = latin.replace(`,'ß','ss','Æ','ae'`, '')
for (const o of ['{}', '{numeric:true}', '{sensitivity:"base"}', '{sensitivity:"accent"}', '{ignorePunctuation:true}', '{numeric:true,sensitivity:"base"}', '{sensitivity:"case"}', '{caseFirst:"upper"}', '{caseFirst:"lower"}', '{sensitivity:"case",caseFirst:"upper"}']) {
  const words = /case"|caseFirst/.test(o) ? simple : latin
  add(`${words}.sort(new Intl.Collator('en', ${o}).compare).join()`, `${words}.map(a => ${words}.map(b => a.localeCompare(b, 'en', ${o})).join('')).join()`)
}
add(`['日本','中','Привет','привет','a','Z','1','ß','ss','Æ','ae'].sort((a, b) => a.localeCompare(b)).join()`)

const date = call => add(`new Date(${at}).${call}`)
date(`toLocaleString()`)
date(`toLocaleDateString()`)
date(`toLocaleTimeString()`)
date(`toLocaleString('en-US', {timeZone:'America/New_York'})`)
date(`toLocaleDateString('en-US', {weekday:'long'})`)
date(`toLocaleDateString('en-US', {hour:'numeric'})`)
date(`toLocaleTimeString('en-US', {month:'long'})`)
date(`toLocaleTimeString([], {hour:'2-digit', minute:'2-digit'})`)
date(`toLocaleDateString(undefined, {dateStyle:'medium'})`)
date(`toLocaleString('en-US', {timeStyle:'short'})`)
date(`toLocaleDateString('en-US', {timeStyle:'short'})`)
date(`toLocaleDateString('en-US', {timeZone:'Nope/Zone'})`)
date(`toLocaleString('en-US', {hour12:false})`)
date(`toLocaleDateString('en-US', {year:'numeric', day:'numeric'})`)
date(`toLocaleString('en-US', {era:'short'})`)
date(`toLocaleTimeString('en-US', {timeZoneName:'short'})`)
date(`toLocaleDateString('en-US', {timeZoneName:'short'})`)
date(`toLocaleString('en-US', {fractionalSecondDigits:2})`)
date(`toLocaleString('en-US', {dayPeriod:'long'})`)
date(`toLocaleString('en-US', {calendar:1, dateStyle:'x'})`)
add(
  `new Date(NaN).toLocaleString()`, `new Date(-62198755200000).toLocaleDateString('en-US', {era:'short', timeZone:'UTC'})`, `new Date(2020, 0, 1).getTimezoneOffset()`,
  `Array.from({length:24}, (_, h) => new Intl.DateTimeFormat('en-US', {timeZone:'UTC', hour:'numeric', dayPeriod:'long'}).format(h * 36e5)).join()`,
  `new Intl.DateTimeFormat('en-US', {timeZone:'UTC', hour:'numeric', minute:'numeric', dayPeriod:'short'}).format(12 * 36e5)`,
  `new Intl.DateTimeFormat('en-US').format(NaN)`, `typeof Intl.DateTimeFormat().format()`, `Intl.DateTimeFormat().resolvedOptions().timeZone`,
  `(1234.5).toLocaleString()`, `(1234.5).toLocaleString('en-US', {style:'currency', currency:'USD'})`, `(123456789012345678901234567890n).toLocaleString()`, `(-0).toLocaleString()`,
  `(1234.5678).toLocaleString('en-US', {maximumFractionDigits:2})`, `(0.256).toLocaleString('en-US', {style:'percent', minimumFractionDigits:1})`, `(0.000001).toLocaleString()`, `(1e21).toLocaleString('en-US')`,
  `(5).toLocaleString('en-US', {minimumIntegerDigits:2})`, `Number.prototype.toLocaleString.call('5')`, `Date.prototype.toLocaleString.call(5)`, `Array.prototype.toLocaleString.call(null)`,
  `[1234.5, new Date(0), null, undefined, 'x', [1e6]].toLocaleString('en-US', {timeZone:'UTC'})`, `new Float64Array([1234.5, 1e6]).toLocaleString()`, `(a => { a.push(a); return a.toLocaleString() })([1])`,
  `new Intl.NumberFormat('en-US').format('12345678901234567890.5')`, `new Intl.NumberFormat('en-US').format(' 0x10 ')`, `[null, undefined, true, [5], '', '1e3', '.5', '5.', 'x'].map(v => new Intl.NumberFormat('en-US').format(v)).join()`,
  `[1, 2].map(new Intl.NumberFormat('en-US', {style:'percent'}).format).join()`, `Intl.NumberFormat().format(1e4)`, `Intl.NumberFormat.call({}).format(1e4)`, `new Intl.NumberFormat(null)`, `new Intl.NumberFormat('en-US', null)`, `Intl.NumberFormat.prototype.format`,
  `new Intl.NumberFormat('en-US', {minimumFractionDigits:3, maximumFractionDigits:1})`, `new Intl.NumberFormat('en-US', {style:'currency'})`, `new Intl.NumberFormat('en-US', {style:'currency', currency:'US'})`, `new Intl.NumberFormat('en-US', {style:'unit', unit:'foo'})`, `new Intl.NumberFormat('en-US', {style:'x'})`, `new Intl.NumberFormat('en-US', {maximumFractionDigits:101})`,
  `new (class extends Intl.NumberFormat { twice(n) { return this.format(2 * n) } })('en-US').twice(600)`,
  `Object.prototype.toString.call(Intl) + Object.prototype.toString.call(new Intl.NumberFormat)`, `Object.getOwnPropertyNames(Intl.Collator.prototype).sort().join()`,
  `Intl.getCanonicalLocales(['EN-us', 'de-latn-de', 'en-us'])`, `Intl.getCanonicalLocales('x_y')`, `Intl.getCanonicalLocales(5)`, `Intl.NumberFormat.supportedLocalesOf(['en-US'])`, `'a'.localeCompare('b', 'xx_yy')`, `'a'.localeCompare()`, `String.prototype.localeCompare.call(null, 'a')`,
  `JSON.stringify(new Intl.NumberFormat().resolvedOptions())`, `JSON.stringify(new Intl.NumberFormat('en-US', {style:'currency', currency:'usd', notation:'compact'}).resolvedOptions())`,
  `JSON.stringify(new Intl.DateTimeFormat('en-US', {timeZone:'Asia/Kolkata', dateStyle:'short'}).resolvedOptions())`, `JSON.stringify(new Intl.DateTimeFormat('en-US', {hour:'numeric', timeZone:'us/eastern'}).resolvedOptions())`,
  `JSON.stringify(new Intl.Collator('en', {numeric:true}).resolvedOptions())`, `JSON.stringify(new Intl.NumberFormat('en-US', {style:'currency', currency:'USD'}).formatToParts(-1234.5))`,
  `JSON.stringify(new Intl.DateTimeFormat('en-US', {timeZone:'UTC', dateStyle:'full', timeStyle:'long'}).formatToParts(${at}))`, `JSON.stringify(new Intl.RelativeTimeFormat('en').formatToParts(-1000.5, 'days'))`,
  `new Intl.RelativeTimeFormat('en').format(1, 'eon')`, `new Intl.RelativeTimeFormat('en').format(NaN, 'day')`, `new Intl.ListFormat('en').format([1])`,
  `['ß'.toUpperCase(), 'İ'.toLowerCase(), 'ΑΣ'.toLowerCase(), 'ΑΣΑ'.toLowerCase(), 'ŉ'.toUpperCase(), 'ﬃ'.toUpperCase(), 'ǆ'.toUpperCase(), 'Σ'.toLowerCase(), 'ΐ'.toUpperCase(), 'ᾳ'.toUpperCase(), 'I'.toLocaleLowerCase('en'), '𐐨'.toUpperCase(), 'A.Σ'.toLowerCase()].map(escape).join()`,
  `['é'.normalize('NFD'), 'e\\u0301'.normalize(), 'ﬁ'.normalize('NFKC'), 'Å'.normalize('NFKD')].map(escape).join()`, `'x'.normalize('foo')`,
)

// A generator of numbers of our own: the same in every version of node.
let state = Number(seedText)
const below = n => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return (state >>> 8) % n }
const pick = list => list[below(list.length)]
const some = (o, name, values, percent) => { if (below(100) < percent) o[name] = pick(values) }

const numbers = ['0', '-0', '1', '-1', '1.5', '2', '12.345', '-12.345', '999.995', '1000', '1234', '12345', '99999', '999999', '1e6', '1234567.891', '-987654321', '1e9', '1.5e12', '1e15', '1e16', '123456789012345680000', '1e21', '0.1', '0.01234', '-0.0001', '0.000001234', '0.5', 'NaN', 'Infinity', '-Infinity', '0.045', '1.005', '2.5', '-2.5']
function drawNumber() {
  const o = {}
  const style = pick(['decimal', 'decimal', 'percent', 'currency', 'currency', 'unit'])
  if (style !== 'decimal') o.style = style
  if (style === 'currency') {
    o.currency = pick(['USD', 'EUR', 'JPY', 'GBP', 'CHF', 'INR', 'BRL', 'KWD', 'XAF', 'SEK', 'CNY'])
    some(o, 'currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 50)
    some(o, 'currencySign', ['standard', 'accounting'], 40)
  }
  if (style === 'unit') {
    o.unit = pick(['kilometer', 'kilometer-per-hour', 'mile-per-hour', 'liter', 'byte', 'megabyte', 'celsius', 'day', 'percent', 'meter-per-second', 'byte-per-second', 'degree', 'inch', 'gallon', 'stone', 'foot'])
    some(o, 'unitDisplay', ['short', 'long', 'narrow'], 70)
  }
  some(o, 'notation', ['compact', 'compact', 'scientific', 'engineering', 'standard'], 35)
  some(o, 'compactDisplay', ['short', 'long'], 30)
  some(o, 'minimumFractionDigits', [0, 1, 2, 3], 20)
  some(o, 'maximumFractionDigits', [0, 1, 2, 4, 6], 25)
  some(o, 'minimumSignificantDigits', [1, 2, 4], 10)
  some(o, 'maximumSignificantDigits', [1, 3, 5], 12)
  some(o, 'minimumIntegerDigits', [1, 2, 5], 10)
  some(o, 'useGrouping', [true, false, 'min2', 'always', 'auto'], 25)
  some(o, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 30)
  some(o, 'roundingMode', ['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'], 15)
  some(o, 'roundingPriority', ['auto', 'morePrecision', 'lessPrecision'], 8)
  some(o, 'trailingZeroDisplay', ['auto', 'stripIfInteger'], 8)
  return `new Intl.NumberFormat('en-US', ${JSON.stringify(o)}).format(${pick(numbers)})`
}

const times = [0, 1704207845067, -62135596800000, 1719792000000, 1709251199999, 1730613600000, 946684799999, 4102444800000, 1720000000000, 1704153600000, 1704110400000, 1704114300000, -1e12, 253402300799999]
const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Sydney', 'Asia/Tokyo', 'America/Sao_Paulo', 'Pacific/Auckland', 'America/Los_Angeles', 'Africa/Cairo']
function drawDate() {
  const o = { timeZone: pick(zones) }
  if (below(4) === 0) {
    some(o, 'dateStyle', ['full', 'long', 'medium', 'short'], 70)
    some(o, 'timeStyle', ['full', 'long', 'medium', 'short'], 60)
  } else {
    const fields = pick(['yMd', 'yMd', 'yMdE', 'Md', 'MdE', 'yM', 'y', 'M', 'd', 'E', '', '', 'dE'])
    if (fields.includes('y')) o.year = pick(['numeric', 'numeric', '2-digit'])
    if (fields.includes('M')) o.month = pick(['numeric', '2-digit', 'short', 'long', 'long'])
    if (fields.includes('d')) o.day = pick(['numeric', '2-digit'])
    if (fields.includes('E')) o.weekday = pick(['short', 'long'])
    const clock = fields.length && fields.length < 3 && fields !== 'Md' ? '' : pick(['', '', 'h', 'hm', 'hms', 'hm', 'hms', 'ms', 'hmsf'])
    if (clock.includes('h')) o.hour = pick(['numeric', '2-digit'])
    if (clock.includes('m')) o.minute = pick(['numeric', '2-digit'])
    if (clock.includes('s')) o.second = pick(['numeric', '2-digit'])
    if (clock.includes('f')) o.fractionalSecondDigits = pick([1, 2, 3])
    if (clock.includes('h')) some(o, 'timeZoneName', ['short', 'long', 'shortOffset', 'longOffset'], 30)
  }
  if (o.hour || o.timeStyle) {
    some(o, 'hour12', [true, false], 20)
    some(o, 'hourCycle', ['h11', 'h12', 'h23', 'h24'], 15)
  }
  return `new Intl.DateTimeFormat('en-US', ${JSON.stringify(o)}).format(${pick(times)})`
}

const elsewhere = ['en-GB', 'en-IN', 'en-AU', 'en-CA', 'de', 'de-DE', 'fr', 'fr-FR', 'es', 'es-ES', 'it', 'it-IT', 'pt', 'pt-BR', 'ja', 'ja-JP']
function drawElsewhere() {
  const o = {}, locale = pick(elsewhere)
  const style = pick(['decimal', 'percent', 'currency', 'currency'])
  if (style !== 'decimal') o.style = style
  if (style === 'currency') {
    o.currency = pick(['USD', 'EUR', 'JPY', 'GBP', 'CHF', 'INR', 'BRL', 'SEK', 'CNY', 'CAD', 'AUD', 'XAF', 'KWD'])
    some(o, 'currencyDisplay', ['code', 'symbol', 'narrowSymbol'], 50)
    if (locale.startsWith('en') && locale !== 'en-IN') some(o, 'currencySign', ['accounting'], 30)
  }
  some(o, 'minimumFractionDigits', [0, 1, 2], 20)
  some(o, 'maximumFractionDigits', [2, 4], 20)
  some(o, 'maximumSignificantDigits', [3], 10)
  some(o, 'useGrouping', [true, false, 'min2', 'always'], 25)
  some(o, 'signDisplay', ['never', 'always', 'exceptZero', 'negative'], 30)
  return `Intl.NumberFormat('${locale}', ${JSON.stringify(o)}).formatToParts(${pick(numbers)}).map(p => p.type + p.value).join()`
}
for (let i = 0; i < Number(countText); i++) add([drawNumber, drawDate, drawElsewhere][i % 3]())

for (const expression of expressions) {
  let want
  try {
    want = String((0, eval)(expression))
  } catch (e) {
    want = `throws ${e.name}`
  }
  console.log(JSON.stringify({ expression, want }))
}
