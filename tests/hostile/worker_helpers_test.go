package hostile_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A program for the fake worker is a script: see fakeworker/script.go.

func script(steps ...string) string { return strings.Join(steps, "\n") }

func say(text string) string { return "say " + strconv.Quote(text) }

func flood(n int, text string) string { return fmt.Sprintf("flood %d %s", n, strconv.Quote(text)) }

func exit(code int, text string) string { return fmt.Sprintf("exit %d %s", code, strconv.Quote(text)) }

// header is one call in a calls message.
func header(id any, server, tool string, size any) string {
	return fmt.Sprintf(`{"id":%v,"server":%s,"tool":%s,"size":%v}`, id, quote(server), quote(tool), size)
}

func calls(headers ...string) string {
	return `{"type":"calls","calls":[` + strings.Join(headers, ",") + "]}\n"
}

// call says one call as it should be.
func call(id any, server, tool, args string) string {
	return say(calls(header(id, server, tool, len(args))) + args)
}

// done says how the run ended.
func done(kind, value string) string {
	return say(fmt.Sprintf(`{"type":"done","kind":%s,"size":%d}`+"\n%s", quote(kind), len(value), value))
}

func quote(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(q)
}
