package account

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/jsonc"
	"github.com/trawlsearch/trawl/store/saved"
)

// checkSettings refuses what is no object, or too long.
func checkSettings(contents string) (string, error) {
	if len(contents) > saved.MaxSettingsBytes {
		return "", wire.Refuse("settings of %d bytes are too long: keep them within %d", len(contents), saved.MaxSettingsBytes)
	}
	root, err := jsonc.Parse(contents)
	if err != nil {
		return "", errNotJSON(err)
	}
	if root.Value.Kind() != '{' {
		return "", wire.Refuse("the settings are no JSON object")
	}
	var all map[string]any
	if err := jsonc.Unmarshal(contents, &all); err != nil { // such as 1e999
		return "", errNotJSON(err)
	}
	return contents, nil
}

func errNotJSON(err error) error {
	return wire.Refuse("the settings are no JSON: %s", err)
}

// settingsEdit is the input SettingsEdit.
type settingsEdit struct {
	KeyPath                   []keySegment
	Value                     wire.AnyJSON
	ValueIsJSONCEncodedString wire.Bool
}

// keySegment is the input KeyPathSegment.
type keySegment struct {
	Property wire.String
	Index    wire.Int
}

// pointerEscape is how RFC 6901 writes what would end a segment.
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the segment as a part of a JSON pointer.
func (k keySegment) pointer() (string, error) {
	switch {
	case k.Property.Value != nil && k.Index.Value == nil:
		return "/" + pointerEscape.Replace(*k.Property.Value), nil
	case k.Property.Value == nil && k.Index.Value != nil && *k.Index.Value >= 0:
		return "/" + strconv.Itoa(int(*k.Index.Value)), nil
	}
	return "", wire.Refuse("each segment of a key path is either a property or an index")
}

// mostKeys bounds a key path, whose objects are looked for from the root again and
// again.
const mostKeys = 100

// apply changes one value and leaves all around it, comments too, as it is.
// Objects on the way to it are made.
func (e settingsEdit) apply(contents string) (string, error) {
	if strings.TrimSpace(contents) == "" {
		contents = "{}"
	}
	root, err := jsonc.Parse(contents)
	if err != nil {
		return "", errNotJSON(err)
	}
	value, remove, err := e.value()
	if err != nil {
		return "", err
	}
	if len(e.KeyPath) == 0 {
		return e.whole(value)
	}
	if len(e.KeyPath) > mostKeys {
		return "", wire.Refuse("a key path of %d segments is too long: keep it within %d", len(e.KeyPath), mostKeys)
	}
	pointer := ""
	for i, segment := range e.KeyPath {
		part, err := segment.pointer()
		if err != nil {
			return "", err
		}
		pointer += part
		there := root.Find(pointer) != nil
		last := i == len(e.KeyPath)-1
		switch {
		case remove && !there:
			return contents, nil
		case remove && last:
			err = patch(&root, "remove", pointer, nil)
		case last && there:
			err = patch(&root, "replace", pointer, value)
		case last:
			err = patch(&root, "add", pointer, value)
		case !there:
			err = patch(&root, "add", pointer, json.RawMessage("{}"))
		}
		if err != nil {
			return "", wire.Refuse("the value cannot be put at %s", pointer)
		}
	}
	root.Format()
	return root.String(), nil
}

// whole is what stands in place of all settings when no key is named: the text
// as it was written, with its comments.
func (e settingsEdit) whole(value json.RawMessage) (string, error) {
	if text, ok := e.Value.Value.(string); ok && e.ValueIsJSONCEncodedString.Or(false) {
		return text, nil
	}
	if value == nil {
		return "{}", nil
	}
	return string(value), nil
}

// value returns the new value as JSON; remove says that there is none.
func (e settingsEdit) value() (value json.RawMessage, remove bool, err error) {
	if e.Value.Value == nil {
		return nil, true, nil
	}
	if !e.ValueIsJSONCEncodedString.Or(false) {
		value, err = json.Marshal(e.Value.Value)
		return value, false, err
	}
	text, ok := e.Value.Value.(string)
	if !ok {
		return nil, false, wire.Refuse("the value is no text that holds JSON")
	}
	plain, err := jsonc.Standardize(text)
	if err != nil {
		return nil, false, wire.Refuse("the value is no JSON: %s", err)
	}
	return plain, false, nil
}

func patch(root *hujson.Value, op, pointer string, value json.RawMessage) error {
	step := map[string]any{"op": op, "path": pointer}
	if value != nil {
		step["value"] = value
	}
	text, err := json.Marshal([]any{step})
	if err != nil {
		return err
	}
	return root.Patch(text)
}
