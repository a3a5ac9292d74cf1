package notify

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// slackPayload is the JSON that Slack's incoming webhooks take, and those of other chat
// servers.
type slackPayload struct {
	Text string `json:"text"`
}

// slackErrors are the words by which Slack says what is wrong. Any other text of an
// answer is not shown: it may hold the address.
var slackErrors = map[string]bool{
	"invalid_payload": true, "no_text": true, "user_not_found": true, "channel_not_found": true, "channel_is_archived": true,
	"action_prohibited": true, "posting_to_general_channel_denied": true, "no_service": true, "no_service_id": true, "no_team": true,
	"team_disabled": true, "invalid_token": true, "no_active_hooks": true, "rollup_error": true, "rate_limited": true,
}

// The bounds of a message of Slack, in characters after escaping. A message with one
// match always fits.
const (
	maxSlackText  = 3000
	maxSlackTitle = 300
	maxSlackName  = 200
	maxSlackLine  = 400
	maxSlackLink  = 500
	// slackEnd is what the last line takes at most.
	slackEnd = 60
)

// slackText writes a message in Slack's mrkdwn.
func slackText(m Message) string {
	var b strings.Builder
	b.WriteString("*" + slackLink(m.URL, m.heading(), maxSlackTitle) + "*")
	b.WriteString(m.where(prose(m.Repository, maxSlackName)))
	if m.Query != "" {
		b.WriteString("\nQuery: `" + prose(m.Query, maxSlackTitle) + "`")
	}
	length, shown := utf8.RuneCountInString(b.String()), 0
	for _, match := range m.Matches {
		entry := "\n" + slackLink(match.URL, m.place(match), maxSlackName)
		if match.Text != "" {
			// Three of them would end the block.
			entry += "\n```\n" + escape(strings.ReplaceAll(match.Text, "```", "ˋˋˋ"), maxSlackLine) + "\n```"
		}
		n := utf8.RuneCountInString(entry)
		if length+n > maxSlackText-slackEnd {
			break
		}
		b.WriteString(entry)
		length, shown = length+n, shown+1
	}
	if left := m.Count - shown; left > 0 && shown > 0 {
		fmt.Fprintf(&b, "\n%d more are left out.", left)
	}
	return b.String()
}

// slackLink makes a link of a text, if there is an address that is short enough.
func slackLink(address, text string, most int) string {
	text = prose(text, most)
	if address = slackEscapes.Replace(address); address == "" || text == "" || utf8.RuneCountInString(address) > maxSlackLink {
		return text
	}
	return "<" + address + "|" + text + ">"
}

// prose escapes text outside of a block. A backtick there would begin code, and three of
// them a block.
func prose(text string, most int) string { return escape(strings.ReplaceAll(text, "`", "ˋ"), most) }

// slackEscapes are the characters by which mrkdwn begins links and mentions.
var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escape returns text for mrkdwn, cut to a number of characters.
func escape(text string, most int) string {
	whole := slackEscapes.Replace(text)
	if utf8.RuneCountInString(whole) <= most {
		return whole
	}
	var b strings.Builder
	n := 1 // the ellipsis
	for _, r := range text {
		one := slackEscapes.Replace(string(r))
		if n += utf8.RuneCountInString(one); n > most {
			break
		}
		b.WriteString(one)
	}
	return b.String() + "…"
}
