package auth

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func TestParseAuthorization(t *testing.T) {
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	token := func(secret, as string) credential { return credential{kind: accessToken, secret: secret, as: as} }
	none := credential{}
	malformed := credential{kind: -1} // stands for errMalformed
	tests := []struct {
		header string
		want   credential
	}{
		// the documented forms
		{"token tok", token("tok", "")},
		{`token-sudo user="U",token="T"`, token("T", "U")},
		{"Bearer X", credential{kind: bearerToken, secret: "X"}},

		// a token alone
		{"token tok==", token("tok==", "")}, {"token abc=", token("abc=", "")}, {"token a,b", token("a,b", "")},
		{"token  T", token("T", "")}, {"token a b", token("a b", "")}, {"token tok,", token("tok,", "")}, {"token a=b,c", token("a=b,c", "")}, {"token ,", token(",", "")},

		// a list
		{"token token=tok", token("tok", "")}, {`token token="tok=="`, token("tok==", "")}, {`token token="tok" ,`, token("tok", "")},
		{`token-sudo token="tok==", user="alice"`, token("tok==", "alice")}, {`token-sudo token=tok, user="alice"`, token("tok", "alice")},
		{`token-sudo token="tok==", user=alice`, token("tok==", "alice")}, {`token token="T",user="U"`, token("T", "U")},
		{`token-sudo token="T"`, token("T", "")}, {`token-sudo TOKEN="T",User="U"`, token("T", "U")},
		{`token-sudo user="U",token="T",other=1`, token("T", "U")}, {`token-sudo user="",token="T"`, token("T", "")},
		{`token-sudo user ="U",token="T"`, token("T", "")}, // another key
		{`token-sudo user= U,token="T"`, token("T", " U")},

		// quotes
		{`token-sudo user="a\"b",token="T"`, token("T", `a"b`)}, {`token-sudo user="a,b",token="T"`, token("T", "a,b")},
		{`token-sudo user="a\\b",token="T"`, token("T", `a\b`)}, {`token-sudo user="a=b",token="T"`, token("T", "a=b")},
		{`token-sudo user=a"b,token=T`, malformed}, // the quote never ends, so it is a list without token
		{`token-sudo user=",token="T"`, malformed}, {`token token="`, malformed}, {`token token=""`, malformed}, {`token "=x,token=T`, malformed},

		// known schemes without use
		{"token-sudo T", malformed}, {"token-sudo T==", malformed}, {`token-sudo user="alice"`, malformed}, {`token-sudo token="",user="alice"`, malformed},
		{"token", malformed}, {"token ", malformed}, {"token    ", malformed}, {"token ab=cd", malformed}, {"token-sudo", malformed},

		// ignored
		{"token k=v, k=v", none}, {`token token="a",token="b"`, none}, {"Token x", none}, {"TOKEN x", none}, {"Token-Sudo x", none},
		{"xyz x", none}, {"x", none}, {" ", none}, {"tokens x", none}, {"token\tx", none},

		// bearer tokens, any case, whatever they hold
		{"bearer x", credential{kind: bearerToken, secret: "x"}}, {"BEARER x y", credential{kind: bearerToken, secret: "x y"}},
		{"Bearer", credential{kind: bearerToken}}, {"Bearer  x", credential{kind: bearerToken, secret: " x"}},

		// the user name of Basic is a token
		{basic("T:"), credential{kind: accessToken, secret: "T", ambient: true}}, {basic("T:pass:word"), credential{kind: accessToken, secret: "T", ambient: true}},
		{strings.Replace(basic("T:x"), "Basic", "bAsIc", 1), credential{kind: accessToken, secret: "T", ambient: true}},
		{basic(":x"), none}, {basic("T"), none}, {"Basic !", none}, {"Basic", none},
	}
	for _, tt := range tests {
		got, err := parseAuthorization(tt.header)
		if errors.Is(err, errMalformed) {
			got = malformed
		}
		if got != tt.want {
			t.Errorf("parseAuthorization(%q)\ngot  %+v\nwant %+v", tt.header, got, tt.want)
		}
	}
}

func FuzzParseAuthorization(f *testing.F) {
	for _, s := range []string{
		"token tok", `token-sudo user="a\"b",token="T"`, "Bearer x", "Basic VDo=", `token token="`, `token "`, `token a="b\`, "token ,,=", "token",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		c, err := parseAuthorization(header)
		switch {
		case err != nil && !errors.Is(err, errMalformed):
			t.Errorf("%q: %v", header, err)
		case err != nil && c != (credential{}):
			t.Errorf("%q: a credential with an error: %+v", header, c)
		case c.kind == noCredential && c != (credential{}):
			t.Errorf("%q: no credential, but %+v", header, c)
		case c.kind == accessToken && c.secret == "":
			t.Errorf("%q: a token without a text", header)
		case c.as != "" && !strings.HasPrefix(header, "token"):
			t.Errorf("%q acts as %q", header, c.as)
		case len(c.secret)+len(c.as) > len(header):
			t.Errorf("%q: more came out than went in: %+v", header, c)
		}
		// What a client writes by the rules is read as it meant.
		if strings.ContainsAny(header, "\x00\r\n") || header == "" {
			return
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(header) + `"`
		got, err := parseAuthorization("token-sudo user=" + quoted + ",token=" + quoted)
		if err != nil || got.as != header || got.secret != header {
			t.Errorf("quoted %q: got %+v, %v", header, got, err)
		}
	})
}
