package weburl_test

import (
	"strings"
	"testing"

	"github.com/sandboxd/sandboxd/internal/js/weburl"
)

// What node 20 makes of each; "" is no URL.
func TestParse(t *testing.T) {
	for _, c := range []struct{ text, base, want string }{
		{"http://example.com", "", "http://example.com/"},
		{"HTTP://EXAMPLE.com:80/A/../b/./c?d=e f#g h", "", "http://example.com/b/c?d=e%20f#g%20h"},
		{"https://user:p%40ss@host:8443/x", "", "https://user:p%40ss@host:8443/x"},
		{"/p?q#f", "https://h/a/b", "https://h/p?q#f"},
		{"../x", "https://h/a/b/c", "https://h/a/x"},
		{"//o/x", "https://h/a", "https://o/x"},
		{"?q", "https://h/a?b#c", "https://h/a?q"},
		{"#f", "https://h/a?b#c", "https://h/a?b#f"},
		{"", "https://h/a?b#c", "https://h/a?b"},
		{"x", "mailto:a@b", ""},
		{"mailto:a@b?subject=x y", "", "mailto:a@b?subject=x%20y"},
		{"data:text/plain,a b c#d e", "", "data:text/plain,a b c#d%20e"},
		{"javascript:alert(1)", "", "javascript:alert(1)"},
		{"file:///C|/x/../y", "", "file:///C:/y"},
		{"file:c:\\x\\y", "file:///d:/a/b", "file:///c:/x/y"},
		{"file://localhost/x", "", "file:///x"},
		{"file://host/x", "", "file://host/x"},
		{"http://a\\b\\c?\\d", "", "http://a/b/c?\\d"},
		{"http://é.com/é?é#é", "", "http://xn--9ca.com/%C3%A9?%C3%A9#%C3%A9"},
		{"http://ＧＯ.com", "", "http://go.com/"},
		{"http://xn--ls8h.la/", "", "http://xn--ls8h.la/"},
		{"http://faß.de", "", "http://xn--fa-hia.de/"},
		{"http://1.2.3", "", "http://1.2.0.3/"},
		{"http://0x7f.1", "", "http://127.0.0.1/"},
		{"http://0300.168.0.1", "", "http://192.168.0.1/"},
		{"http://4294967296", "", ""},
		{"http://256.1.1.1", "", ""},
		{"http://1.2.3.4.5", "", ""},
		{"http://[::1]:80/", "", "http://[::1]/"},
		{"http://[1:0:0:2::3]", "", "http://[1:0:0:2::3]/"},
		{"http://[::ffff:1.2.3.4]", "", "http://[::ffff:102:304]/"},
		{"http://[:::1]", "", ""},
		{"http://[1::2::3]", "", ""},
		{"http://[::1%25eth0]", "", ""},
		{"http://h:65535", "", "http://h:65535/"},
		{"http://h:65536", "", ""},
		{"http://h:", "", "http://h/"},
		{"http://h:a", "", ""},
		{"http://", "", ""},
		{"http:///x", "", "http://x/"},
		{"http:x", "http://h/a/b", "http://h/a/x"},
		{"http:x", "https://h/a/b", "http://x/"},
		{"https://h/%zz%41%2e%2e/", "", "https://h/%zz%41%2e%2e/"},
		{"https://h/%2e%2E/x", "", "https://h/x"},
		{"https://h/a b\"<>`{}|^~", "", "https://h/a%20b%22%3C%3E%60%7B%7D|^~"},
		{"https://h/?a b\"<>'`{}|^~", "", "https://h/?a%20b%22%3C%3E%27`{}|^~"},
		{"https://h/#a b\"<>'`{}|^~", "", "https://h/#a%20b%22%3C%3E'%60{}|^~"},
		{"non-special://h:99999/", "", ""},
		{"non-special://H%41/ x", "", "non-special://H%41/%20x"},
		{"non-special:a/../b", "", "non-special:a/../b"},
		{"non-special:/..//a", "", "non-special:/.//a"},
		{"web+demo:/.//not-a-host/", "", "web+demo:/.//not-a-host/"},
		{"  \t http://h/\n x  ", "", "http://h/%20x"},
		{"ht\ntp://h/a\tb", "", "http://h/ab"},
		{"http://a b/", "", ""},
		{"http://a%00b/", "", ""},
		{"http://a<b/", "", ""},
		{"http://user@/x", "", ""},
		{"http://@h", "", "http://h/"},
		{"http://:p@h", "", "http://:p@h/"},
		{"http://u:p:q@h@i/", "", "http://u:p%3Aq%40h@i/"},
		{"blob:https://h:1/uuid", "", "blob:https://h:1/uuid"},
		{"blob:x", "", "blob:x"},
		{"ws://h:80/", "", "ws://h/"},
		{"wss://h:443/", "", "wss://h/"},
		{"ftp://h:21/", "", "ftp://h/"},
		{"1:2", "", ""},
		{"a1+-.:x", "", "a1+-.:x"},
		{"://x", "", ""},
		{"https://h/\ufffd", "", "https://h/%EF%BF%BD"},
		{"http://a..b/", "", "http://a..b/"},
		{"http://-a-.b_c/", "", "http://-a-.b_c/"},
		{"http://a.b.", "", "http://a.b./"},
		{"http://.", "", "http://./"},
		{"HTTPS://h?x#y", "", "https://h/?x#y"},
	} {
		t.Run(c.text+" "+c.base, func(t *testing.T) {
			var base *weburl.URL
			if c.base != "" {
				var ok bool
				if base, ok = weburl.Parse(c.base, nil); !ok {
					t.Fatal("the base is no URL")
				}
			}
			got := ""
			if u, ok := weburl.Parse(c.text, base); ok {
				got = u.Href()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What node 20 makes of an assignment to a part.
func TestSet(t *testing.T) {
	set := map[string]func(*weburl.URL, string){
		"href":     func(u *weburl.URL, v string) { u.SetHref(v) },
		"protocol": (*weburl.URL).SetProtocol, "username": (*weburl.URL).SetUsername, "password": (*weburl.URL).SetPassword,
		"host": (*weburl.URL).SetHost, "hostname": (*weburl.URL).SetHostname, "port": (*weburl.URL).SetPort,
		"pathname": (*weburl.URL).SetPathname, "search": (*weburl.URL).SetSearch, "hash": (*weburl.URL).SetHash,
	}
	for _, c := range []struct{ text, part, value, want string }{
		{"http://h/", "protocol", "https", "https://h/"},
		{"http://h:443/", "protocol", "https:", "https://h/"},
		{"http://h/", "protocol", "mailto", "http://h/"},
		{"mailto:x", "protocol", "http", "mailto:x"},
		{"https://u@h/", "protocol", "file", "https://u@h/"},
		{"https://h:1/", "protocol", "0x", "https://h:1/"},
		{"http://h/", "username", "é:@/", "http://%C3%A9%3A%40%2F@h/"},
		{"http://h/", "password", "a b", "http://:a%20b@h/"},
		{"file:///x", "username", "u", "file:///x"},
		{"http://u:p@h/", "username", "", "http://:p@h/"},
		{"http://h:1/x", "host", "o:2", "http://o:2/x"},
		{"http://h:1/x", "host", "o", "http://o:1/x"},
		{"http://h:1/x", "host", "", "http://h:1/x"},
		{"http://h/x", "host", "o/p?q", "http://o/x"},
		{"http://h/x", "host", "a b", "http://h/x"},
		{"mailto:x", "host", "h", "mailto:x"},
		{"http://h:1/x", "hostname", "o", "http://o:1/x"},
		{"http://h:1/x", "hostname", "o:2", "http://h:1/x"},
		{"http://h/", "hostname", "[::1]", "http://[::1]/"},
		{"http://h/", "port", "8080", "http://h:8080/"},
		{"http://h:1/", "port", "", "http://h/"},
		{"http://h/", "port", "80", "http://h/"},
		{"http://h/", "port", "65536", "http://h/"},
		{"http://h/", "port", "9x", "http://h:9/"},
		{"http://h/", "port", "x9", "http://h/"},
		{"file:///x", "port", "9", "file:///x"},
		{"http://h/a", "pathname", "b/../c d?e#f", "http://h/c%20d%3Fe%23f"},
		{"http://h/a", "pathname", "", "http://h/"},
		{"a:/b", "pathname", "", "a:/"},
		{"a:b", "pathname", "c", "a:b"},
		{"a://h/b", "pathname", "//c", "a://h//c"},
		{"http://h/?a", "search", "b c", "http://h/?b%20c"},
		{"http://h/?a", "search", "?", "http://h/?"},
		{"http://h/?a#f", "search", "", "http://h/#f"},
		{"a:b ?q", "search", "", "a:b"},
		{"http://h/#a", "hash", "b c`", "http://h/#b%20c%60"},
		{"http://h/#a", "hash", "", "http://h/"},
		{"http://h/#a", "hash", "#", "http://h/#"},
		{"http://h/", "href", "mailto:x", "mailto:x"},
		{"http://h/", "port", "0090", "http://h:90/"},
	} {
		t.Run(c.text+" "+c.part+"="+c.value, func(t *testing.T) {
			u, ok := weburl.Parse(c.text, nil)
			if !ok {
				t.Fatal("no URL")
			}
			if set[c.part](u, c.value); u.Href() != c.want {
				t.Errorf("got %q, want %q", u.Href(), c.want)
			}
		})
	}
}

func TestTooLong(t *testing.T) {
	if _, ok := weburl.Parse("https://h/"+strings.Repeat("x", 1<<20), nil); ok {
		t.Error("parsed")
	}
}

// A parsed URL is itself when it is parsed again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"http://a:b@c:1/d/../e?f#g", "a:b", "a:/.//b", "file:///c|/x", "http://[::1]", "x://%41/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, ok := weburl.Parse(strings.ToValidUTF8(text, "?"), nil)
		if !ok {
			return
		}
		again, ok := weburl.Parse(u.Href(), nil)
		if !ok || again.Href() != u.Href() {
			t.Errorf("%q is %q, and that is %v", text, u.Href(), again)
		}
	})
}
