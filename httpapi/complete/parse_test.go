package complete

import (
	"encoding/json"
	"testing"

	"github.com/trawlsearch/trawl/query"
)

func TestRead(t *testing.T) {
	tests := []struct {
		text string
		pt   query.PatternType
		want string
	}{
		{"", query.Keyword, `{"patternType":"keyword","marks":[],"error":null,"warnings":[],"quick":false}`},
		{"ü repo:é$", query.Keyword, `{"patternType":"keyword","marks":[{"from":2,"to":7,"kind":"field"},{"from":7,"to":8,"kind":"value"},{"from":8,"to":9,"kind":"regexp"}],"error":null,"warnings":[],"quick":false}`},
		{"x patterntype:regexp", query.Keyword, `{"patternType":"regexp","marks":[{"from":2,"to":14,"kind":"field"},{"from":14,"to":20,"kind":"value"}],"error":null,"warnings":[],"quick":false}`},
		{"é fork:yse", query.Keyword, `{"patternType":"keyword","marks":[{"from":2,"to":7,"kind":"field"},{"from":7,"to":10,"kind":"value"}],"error":{"message":"invalid value \"yse\" for field \"fork\". Valid values are: yes, only, no","from":2,"to":10,"hint":"fork:yes"},"warnings":[],"quick":false}`},
		{"é langg:go", query.Keyword, "{\"patternType\":\"keyword\",\"marks\":[],\"error\":null,\"warnings\":[{\"message\":\"There is no filter `langg:`, so `langg:go` is searched for as text. Is `lang:` meant?\",\"from\":2,\"to\":10,\"proposed\":\"é lang:go patternType:keyword\"}],\"quick\":true}"},
		{"x or", query.Standard, `{"patternType":"standard","marks":[],"error":null,"warnings":[],"quick":true}`},
	}
	for _, tt := range tests {
		got, err := json.Marshal(read(tt.text, tt.pt))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}
