package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandboxd/sandboxd/internal/redact"
)

const (
	lower = "abcdefghijklmnopqrstuvwxyz"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digit = "0123456789"
	hex   = digit + "abcdef"
	alnum = lower + upper + digit
	base  = upper + "234567"
)

// of is a random text that has no letter again before it has all, so that it always looks random. Secrets are made when they are
// needed: none stands in the repository.
func of(n int, letters string) string {
	var out []byte
	for len(out) < n {
		for _, i := range rand.Perm(len(letters)) {
			out = append(out, letters[i])
		}
	}
	return string(out[:n])
}

// kinds are secrets by the descriptions of those who hand them out: what a text says, and what of it is secret.
var kinds = []struct {
	rule string
	make func() (text, secret string)
}{
	{"aws-access-token", itself(func() string { return "AKIA" + of(16, base) })},
	{"github-pat", itself(func() string { return "ghp_" + of(36, alnum) })},
	{"github-fine-grained-pat", itself(func() string { return "github_pat_" + of(22, alnum) + "_" + of(59, alnum) })},
	{"github-app-token", itself(func() string { return "ghs_" + of(36, alnum) })},
	{"gitlab-pat", itself(func() string { return "glpat-" + of(20, alnum) })},
	{"slack-bot-token", itself(func() string { return "xoxb-" + of(12, digit) + "-" + of(12, digit) + "-" + of(24, alnum) })},
	{"slack-webhook-url", itself(func() string {
		return "hooks.slack.com/services/T" + of(10, upper) + "/B" + of(10, upper) + "/" + of(24, alnum)
	})},
	{"stripe-access-token", itself(func() string { return "sk_live_" + of(24, alnum) })},
	{"anthropic-api-key", itself(func() string { return "sk-ant-api03-" + of(93, alnum) + "AA" })},
	{"openai-api-key", itself(func() string { return "sk-" + of(20, alnum) + "T3BlbkFJ" + of(20, alnum) })},
	{"gcp-api-key", itself(func() string { return "AIza" + of(35, alnum) })},
	{"npm-access-token", itself(func() string { return "npm_" + of(36, alnum) })},
	{"pypi-upload-token", itself(func() string { return "pypi-AgEIcHlwaS5vcmc" + of(80, alnum) })},
	{"sendgrid-api-token", itself(func() string { return "SG." + of(22, alnum) + "." + of(43, alnum) })},
	{"twilio-api-key", itself(func() string { return "SK" + of(32, hex) })},
	{"huggingface-access-token", itself(func() string { return "hf_" + of(34, lower) })},
	{"digitalocean-pat", itself(func() string { return "dop_v1_" + of(64, hex) })},
	{"databricks-api-token", itself(func() string { return "dapi" + of(32, hex) })},
	{"shopify-access-token", itself(func() string { return "shpat_" + of(32, hex) })},
	{"linear-api-key", itself(func() string { return "lin_api_" + of(40, alnum) })},
	{"postman-api-token", itself(func() string { return "PMAK-" + of(24, hex) + "-" + of(34, hex) })},
	{"grafana-service-account-token", itself(func() string { return "glsa_" + of(32, alnum) + "_" + of(8, hex) })},
	{"vault-service-token", itself(func() string { return "hvs." + of(95, alnum) })},
	{"age-secret-key", itself(func() string { return "AGE-SECRET-KEY-1" + of(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L") })},
	{"jwt", itself(func() string { return "eyJ" + of(30, alnum) + ".eyJ" + of(60, alnum) + "." + of(43, alnum) })},
	{"microsoft-teams-webhook", itself(func() string {
		uuid := func() string {
			return of(8, hex) + "-" + of(4, hex) + "-" + of(4, hex) + "-" + of(4, hex) + "-" + of(12, hex)
		}
		return "https://acme.webhook.office.com/webhookb2/" + uuid() + "@" + uuid() + "/IncomingWebhook/" + of(32, hex) + "/" + uuid()
	})},
	{"private-key", func() (string, string) {
		key := of(64, alnum) + "\n" + of(64, alnum) + "\n" + of(20, alnum)
		return "-----BEGIN RSA PRIVATE " + "KEY-----\n" + key + "\n-----END RSA PRIVATE " + "KEY-----", key
	}},
	{"private-key", func() (string, string) { // cut off
		key := of(64, alnum) + "\n" + of(64, alnum) + "\n" + of(10, alnum)
		return "-----BEGIN PRIVATE " + "KEY-----\n" + key, key[:129]
	}},
	{"generic-api-key", func() (string, string) { s := hard(); return `{"api_key": "` + s + `"}`, s }},
	{"generic-api-key", func() (string, string) { s := hard(); return "DB_PASSWORD=" + s, s }},
	{"datadog-access-token", func() (string, string) { s := of(40, hex); return "datadog_key: " + s, s }},
	{"curl-auth-header", func() (string, string) {
		s := of(30, alnum)
		return `curl https://example.com -H "Authorization: Bearer ` + s + `" -v`, s
	}},
	{"curl-auth-user", func() (string, string) {
		s := of(12, alnum)
		return "curl https://example.com \\\n  " + "-u bob:" + s + " -v", s
	}},
}

func itself(make func() string) func() (string, string) {
	return func() (string, string) { s := make(); return s, s }
}

// hard is a secret that has nothing that the generic rule takes for harmless: no word, and no character twice.
func hard() string {
	var s strings.Builder
	digits, letters := of(10, digit), of(10, consonants)
	for i := range digits {
		s.WriteByte(digits[i])
		s.WriteByte(letters[i])
	}
	return s.String()
}

const consonants = "bcdfghjkmpqvwxz"

func rules(found []redact.Found) (ids []string) {
	for _, f := range found {
		ids = append(ids, f.Rule)
	}
	return ids
}

func TestKinds(t *testing.T) {
	r := redact.Default()
	for _, k := range kinds {
		text, secret := k.make()
		in := "before\n" + text + "\nafter"
		out, found := r.Text([]byte(in))
		if strings.Contains(string(out), secret) || !slices.Contains(rules(found), k.rule) {
			t.Errorf("%s: %q became %q, %v", k.rule, in, out, found)
		}
		if !strings.HasPrefix(string(out), "before\n") || !strings.HasSuffix(string(out), "after") {
			t.Errorf("%s: what stands around is not as it was: %q", k.rule, out)
		}
		in = mustJSON(map[string]any{"text": "before\n" + text + "\nafter", "n": 1})
		out, found = r.JSON([]byte(in))
		if leaks(out, secret) || !slices.Contains(rules(found), k.rule) {
			t.Errorf("%s: %s became %s, %v", k.rule, in, out, found)
		}
		inner := mustJSON(map[string]any{"content": []any{map[string]any{"type": "text", "text": in}}}) // JSON in a text in JSON
		if out, found = r.JSON([]byte(inner)); leaks(out, secret) || !slices.Contains(rules(found), k.rule) {
			t.Errorf("%s: %s became %s, %v", k.rule, inner, out, found)
		}
		var shape struct{ Content []struct{ Text string } }
		if err := json.Unmarshal(out, &shape); err != nil || !json.Valid([]byte(shape.Content[0].Text)) {
			t.Errorf("%s: JSON in a text is none any more: %s", k.rule, out)
		}
		var escaped strings.Builder // all of it as \uXXXX
		for _, c := range "\n" + text + "\n" {
			fmt.Fprintf(&escaped, `\u%04X`, c)
		}
		in = `{"text":"` + escaped.String() + `"}`
		if out, found = r.JSON([]byte(in)); leaks(out, secret) || !slices.Contains(rules(found), k.rule) {
			t.Errorf("%s: %s became %s, %v", k.rule, in, out, found)
		}
	}
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// leaks reports whether JSON stands for a text that has the secret, in a string or in a string in that.
func leaks(text []byte, secret string) bool {
	for range 5 {
		if bytes.Contains(text, []byte(secret)) {
			return true
		}
		plain := regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|.)`).ReplaceAllFunc(text, func(escape []byte) []byte {
			var s string
			if json.Unmarshal([]byte(`"`+string(escape)+`"`), &s) != nil {
				return escape
			}
			return []byte(s)
		})
		text = plain
	}
	return false
}

func TestStays(t *testing.T) {
	r := redact.Default()
	for _, text := range []string{
		"", "a text of some words", `{"a":1,"b":[true,null,"x"]}`,
		`{"id":"018f3c9e-7d1b-7c5a-9d53-2f1a6b0c4e8d","uuid":"f47ac10b-58cc-4372-a567-0e02b2c3d479"}`,
		`{"sha":"` + of(40, hex) + `","ref":"refs/heads/main"}`,
		"commit " + of(40, hex) + " of sourcegraph/sourcegraph",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"the key is " + "AKIA" + "IOSFODNN7EXAMPLE, as in all examples",
		`password = ""`, "password: changeme", `token = "${TOKEN}"`, "API_KEY=$API_KEY", `secret: "{{ .Values.secret }}"`, "api_key: xxxxxxxxxxxxxxxxxxxx",
		`{"key":"PROJ-123","token_type":"bearer","access":"read","keyboard":"qwerty-layout-2024"}`,
		`{"public_key":"` + of(40, alnum) + `","primaryKey":"` + of(20, alnum) + `"}`,
		"curl -u user:pass https://example.com", "curl -H \"Accept: application/json\" https://example.com",
		"<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\">",
		`C:\Users\bob\keys\u0061.txt`, "[redacted: github-pat] and [redacted: generic-api-key (2)]", `{"api_key":"[redacted: generic-api-key]"}`,
		"api_key = [redacted: generic-api-key], curl -u \"[redacted: curl-auth-user]\" https://example.com",
		`{"discord_client_id":` + of(18, "123456789") + `}`, `{"text":"{\"discord_client_id\": ` + of(18, "123456789") + `}"}`,
	} {
		out, found := r.Text([]byte(text))
		if string(out) != text || found != nil {
			t.Errorf("%q became %q, %v", text, out, found)
		}
		if out, found = r.JSON([]byte(text)); string(out) != text || found != nil {
			t.Errorf("JSON %q became %q, %v", text, out, found)
		}
	}
}

func TestJSON(t *testing.T) {
	r := redact.Default()
	aws, pat, pw := "AKIA"+of(16, base), "ghp_"+of(36, alnum), hard()
	const mark, gh, generic = "[redacted: aws-access-token]", "[redacted: github-pat]", "[redacted: generic-api-key]"
	for name, c := range map[string]struct {
		in, want string
		found    []redact.Found
	}{
		"value":                  {`{"a":"x ` + aws + ` y","b":1.50}`, `{"a":"x ` + mark + ` y","b":1.50}`, []redact.Found{{"aws-access-token", 1}}},
		"name and value":         {` { "api_key" : "` + pw + `" } `, ` { "api_key" : "` + generic + `" } `, []redact.Found{{"generic-api-key", 1}}},
		"escaped name":           {`{"api\u005fkey":"` + pw + `"}`, `{"api\u005fkey":"` + generic + `"}`, []redact.Found{{"generic-api-key", 1}}},
		"name":                   {`{"` + aws + `":true}`, `{"` + mark + `":true}`, []redact.Found{{"aws-access-token", 1}}},
		"names":                  {`{"` + aws + `":1,"` + pat + `" :2,"` + aws + `x":3}`, `{"` + mark + `":1,"[redacted: github-pat (2)]" :2,"` + aws + `x":3}`, []redact.Found{{"aws-access-token", 1}, {"github-pat", 1}}},
		"name beside one":        {`{"` + mark + `":1,"` + aws + `":2}`, `{"` + mark + `":1,"[redacted: aws-access-token (2)]":2}`, []redact.Found{{"aws-access-token", 1}}},
		"array":                  {`["` + aws + `","` + pat + `","` + pat + `",12]`, `["` + mark + `","` + gh + `","` + gh + `",12]`, []redact.Found{{"aws-access-token", 1}, {"github-pat", 2}}},
		"escape before":          {`{"a":"\n` + aws + `\n"}`, `{"a":"\n` + mark + `\n"}`, []redact.Found{{"aws-access-token", 1}}},
		"escape within":          {`{"a":"\u0041` + aws[1:] + `","é":"\ud83d\ude00"}`, `{"a":"` + mark + `","é":"\ud83d\ude00"}`, []redact.Found{{"aws-access-token", 1}}},
		"escape after":           {`{"a":"` + aws + `\u0020\\"}`, `{"a":"` + mark + `\u0020\\"}`, []redact.Found{{"aws-access-token", 1}}},
		"JSON in a text":         {`{"text":"{\"api_key\":\"` + pw + `\",\"n\":1}"}`, `{"text":"{\"api_key\":\"` + generic + `\",\"n\":1}"}`, []redact.Found{{"generic-api-key", 1}}},
		"JSON in that":           {`"[\"{\\\"token\\\":\\\"` + pw + `\\\"}\"]"`, `"[\"{\\\"token\\\":\\\"` + generic + `\\\"}\"]"`, []redact.Found{{"generic-api-key", 1}}},
		"number":                 {`{"discord_client_id": 123456789012345678}`, `{"discord_client_id": 123456789012345678}`, nil},
		"lines of a key":         {`["-----BEGIN PRIVATE ` + `KEY-----","` + of(64, alnum) + `",7,"","-----END PRIVATE ` + `KEY-----","x"]`, `["[redacted: private-key]","[redacted: private-key]",7,"","[redacted: private-key]","x"]`, []redact.Found{{"private-key", 1}}},
		"better name":            {`{"token":"` + pat + `"}`, `{"token":"` + gh + `"}`, []redact.Found{{"github-pat", 1}}},
		"longer than known, too": {`"` + pat + `-x_y z"`, `"` + gh + ` z"`, []redact.Found{{"github-pat", 1}}},
		"longer than known":      {`"` + pat + `Abc9"`, `"` + gh + `"`, []redact.Found{{"github-pat", 1}}},
		"beside a secret":        {`"` + aws + pat + `"`, `"` + mark + gh + `"`, []redact.Found{{"aws-access-token", 1}, {"github-pat", 1}}},
		"no JSON":                {`{"a":` + aws + `}`, `{"a":` + mark + `}`, []redact.Found{{"aws-access-token", 1}}},
		"open string":            {`{"a":"` + aws, `{"a":"` + mark, []redact.Found{{"aws-access-token", 1}}},
	} {
		got, found := r.JSON([]byte(c.in))
		if string(got) != c.want {
			t.Errorf("%s: %s became %s, want %s", name, c.in, got, c.want)
		}
		if diff := cmp.Diff(c.found, found); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestText(t *testing.T) {
	r := redact.Default()
	pat, pw := "ghp_"+of(36, alnum), hard()
	for in, want := range map[string]string{
		pat:                               "[redacted: github-pat]",
		pat + " " + pat:                   "[redacted: github-pat] [redacted: github-pat]",
		"password: '" + pw + "'\n":        "password: '[redacted: generic-api-key]'\n",
		"Grüße " + pat + " für dich":      "Grüße [redacted: github-pat] für dich",
		"\xff" + pat + "\xff":             "\xff[redacted: github-pat]\xff",
		`token := "` + pat + `" // 1`:     `token := "[redacted: github-pat]" // 1`,
		`\"token\":\"` + pw + `\"`:        `\"token\":\"[redacted: generic-api-key]\"`,
		"discord_client_id: 12345678901":  "discord_client_id: 12345678901",
		`curl ` + `-u "bob:` + pw + `" x`: `curl ` + `-u "[redacted: curl-auth-user]" x`,
		// Of a mark that hides something, only a real one counts.
		"[redacted: " + pat + "]": "[redacted: [redacted: github-pat]]",
	} {
		got, _ := r.Text([]byte(in))
		if string(got) != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestSame: what has no secrets is returned as it is, without a copy.
func TestSame(t *testing.T) {
	text := []byte(`{"a":"b\n","key":"value"}`)
	if got, _ := redact.Default().JSON(text); &got[0] != &text[0] {
		t.Error("a copy")
	}
}

// TestAtOnce: one redactor for all.
func TestAtOnce(t *testing.T) {
	r := redact.Default()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, k := range kinds {
				text, secret := k.make()
				if out, _ := r.Text([]byte("x\n" + text + "\ny")); strings.Contains(string(out), secret) {
					t.Errorf("%s: %q became %q", k.rule, text, out)
				}
			}
		})
	}
	all.Wait()
}

// plain is text of a program's day, without secrets: issues as JSON, with names that rules look at.
func plain(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"number":%d,"key":"PROJ-%d-title","url":"https://api.example.com/repos/acme/api/issues/%d","title":"retry repeats after reload","author":{"login":"octocat","access":true},"body":"The token is refreshed twice, and the secret store answers 403; see auth.go line %d.\n\nSteps: none"}`+",\n", i, i, i, i)
	}
	return b.Bytes()[:size]
}

// TestHostile: no text takes many times longer than plain text of its size, and what would is taken out as a whole.
func TestHostile(t *testing.T) {
	const size = 64 << 10
	r := redact.Default()
	least := func(redact func([]byte) ([]byte, []redact.Found), text []byte) time.Duration {
		best := time.Hour
		for range 3 {
			start := time.Now()
			redact(text)
			best = min(best, time.Since(start))
		}
		return best
	}
	ordinary := least(r.Text, plain(size))
	for _, unit := range []string{
		"key=", "glpat-", "AKIA", "dropbox=", "token=api=", "sk-", "s.", "ey", "-----BEGIN ", "-----BEGIN PRIVATE " + "KEY-----\n", "curl -u ", "curl\n -H \"X-Key: ",
		`\u0041`, `\\`, `\`, `key="`, "api_key: aaaaaaaaaaaaaaaa ", "api_key: " + hard() + " ", "facebook|123456789012345|", "https://a.webhookb2", "[redacted: ",
		"eyJ" + of(18, alnum) + ".eyJ" + of(18, alnum) + ".", "ghp_" + of(36, alnum), "ghp_" + strings.Repeat("a", 36), "SK" + of(32, hex), `{"key":"`, "token=" + of(200, alnum) + "=",
		"\"\n\\ghp_" + of(36, alnum),
	} {
		text := bytes.Repeat([]byte(unit), size/len(unit))
		if took := least(r.Text, text); took > 200*ordinary {
			t.Errorf("%q, over and over: %v, plain text %v", unit, took, ordinary)
		}
		text = []byte(mustJSON(map[string]any{"x": string(text)}) + strings.Repeat(" ", size))
		if took := least(r.JSON, text); took > 400*ordinary {
			t.Errorf("%q, over and over in a string: %v, plain text %v", unit, took, ordinary)
		}
	}
}

// TestUnchecked: a text that would take too long is gone, and JSON keeps its shape.
func TestUnchecked(t *testing.T) {
	r := redact.Default()
	long := strings.Repeat("glpat-", 1<<16)
	want := []redact.Found{{redact.Unchecked, 1}}
	if got, found := r.Text([]byte(long)); string(got) != "[redacted: unchecked]" || !slices.Equal(found, want) {
		t.Errorf("%.100q, %v", got, found)
	}
	in := `{"a":"` + long + `","b":["x",1,""],"c":{"d":null}}`
	got, found := r.JSON([]byte(in))
	if string(got) != `{"[redacted: unchecked]":"[redacted: unchecked]","[redacted: unchecked (2)]":["[redacted: unchecked]",1,""],"[redacted: unchecked (3)]":{"[redacted: unchecked (4)]":null}}` || !slices.Equal(found, want) {
		t.Errorf("%.300s, %v", got, found)
	}
	if again, _ := r.JSON(got); !bytes.Equal(again, got) {
		t.Errorf("again: %s", again)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("token: " + hard()))
	f.Add([]byte(`curl\n-u "a:b\u0022`))
	for _, k := range kinds {
		text, _ := k.make()
		f.Add([]byte("x " + text + text))
	}
	r := redact.Default()
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		once, found := r.Text(text)
		if !bytes.Equal(text, before) {
			t.Fatal("the text itself was changed")
		}
		if (found == nil) != bytes.Equal(once, text) {
			t.Errorf("%q became %q, %v", text, once, found)
		}
		if twice, again := r.Text(once); !bytes.Equal(twice, once) || again != nil {
			t.Errorf("%q became %q, and that %q, %v", text, once, twice, again)
		}
	})
}

// FuzzJSON: JSON stays JSON of the same shape.
func FuzzJSON(f *testing.F) {
	for _, k := range kinds {
		text, _ := k.make()
		f.Add([]byte(mustJSON(map[string]any{text: []any{text, 1.5, nil, true, map[string]any{"api_key": text}}, "x": mustJSON(text)})))
	}
	f.Add([]byte(`{"a\\":"\ud83d\ude00\"","b":"\\\"token\\\":"}`))
	r := redact.Default()
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			r.JSON(text)
			return
		}
		once, _ := r.JSON(text)
		var before, after any
		if err := json.Unmarshal(once, &after); err != nil {
			t.Fatalf("%q became %q: %v", text, once, err)
		}
		if json.Unmarshal(text, &before); shape(before) != shape(after) {
			t.Errorf("%q became %q", text, once)
		}
		if twice, again := r.JSON(once); !bytes.Equal(twice, once) {
			t.Errorf("%q became %q, and that %q, %v", text, once, twice, again)
		}
	})
}

// shape is a value without its strings.
func shape(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var all []string
		for _, inner := range v {
			all = append(all, shape(inner))
		}
		slices.Sort(all)
		return fmt.Sprint("{", all, "}")
	case []any:
		var all []string
		for _, inner := range v {
			all = append(all, shape(inner))
		}
		return fmt.Sprint(all)
	case string:
		return "string"
	}
	return fmt.Sprint(reflect.TypeOf(v), v)
}

// FuzzPlanted: no secret survives between whatever texts, on a line of its own.
func FuzzPlanted(f *testing.F) {
	f.Add("before", "after", uint8(0))
	f.Add("api_key=\\", "\"", uint8(9))
	f.Add("-----BEGIN PRIVATE "+"KEY-----", "curl -u", uint8(30))
	r := redact.Default()
	f.Fuzz(func(t *testing.T, before, after string, kind uint8) {
		text, secret := kinds[int(kind)%len(kinds)].make()
		if strings.Contains(before+after, secret) {
			return // it stands where nothing marks it as one
		}
		text = before + "\n" + text + "\n" + after
		if out, found := r.Text([]byte(text)); bytes.Contains(out, []byte(secret)) {
			t.Errorf("%q became %q, %v", text, out, found)
		}
		in := mustJSON(map[string]any{"result": []any{text}})
		if out, found := r.JSON([]byte(in)); leaks(out, mustJSON(secret)[1:len(mustJSON(secret))-1]) || leaks(out, secret) {
			t.Errorf("%s became %s, %v", in, out, found)
		}
	})
}

// Benchmarks have two arms as a measure of the machine: one copy of the text in lower case, and one search by a regular expression.

func BenchmarkText(b *testing.B) { benchmark(b, plain(1<<20), redact.Default().Text) }

func BenchmarkJSON(b *testing.B) {
	text := append(append([]byte("["), bytes.TrimRight(plain(1<<20), ",\n")...), ']')
	text = append([]byte("["), text[bytes.IndexByte(text, '\n'):bytes.LastIndex(text, []byte(",\n"))]...)
	text[1] = ' '
	benchmark(b, append(text, ']'), redact.Default().JSON)
}

func benchmark(b *testing.B, text []byte, redact func([]byte) ([]byte, []redact.Found)) {
	one := regexp.MustCompile(`\b(AKIA[A-Z2-7]{16}|ghp_[0-9a-zA-Z]{36})\b`)
	for _, arm := range []struct {
		name string
		run  func()
	}{
		{"redact", func() { redact(text) }},
		{"lower", func() { bytes.ToLower(text) }},
		{"regexp", func() { one.FindAllIndex(text, -1) }},
		{"json-valid", func() { json.Valid(text) }},
	} {
		b.Run(arm.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				arm.run()
			}
		})
	}
}
