package text_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/trawlsearch/trawl/store/text"
)

// samples are texts as source trees hold them: prose, comments, a line or two.
var samples = map[string][]string{
	"japanese": {
		"このファイルは設定を読み込み、結果を表示します。\n詳しくは説明書を参照してください。\n",
		"int main(void) {\n  /* メモリを確保する */\n  char *p = malloc(10); // 失敗した場合は終了\n  return 0;\n}\n",
		"# 使い方\n",
		"// エラー処理\nreturn -1;\n",
	},
	"simplified": {
		"本程序是自由软件，你可以在遵守许可证的前提下重新发布它和修改它。\n我们希望它有用，但没有任何担保。\n",
		"/* 返回字符串的长度 */\nint len(const char *s);\n// 如果没有找到，则返回空值\n",
		"# 这是一个测试文件\n",
	},
	"traditional": {
		"本程式是自由軟體，你可以在遵守授權的前提下重新發布它和修改它。\n我們希望它有用，但沒有任何擔保。\n",
		"/* 返回字串的長度 */\nint len(const char *s);\n// 如果沒有找到，就回傳空值\n",
	},
	"korean": {
		"이 프로그램은 자유 소프트웨어이며 누구나 수정하고 배포할 수 있습니다.\n자세한 내용은 라이선스를 참고하시기 바랍니다.\n",
		"// 파일을 열고 데이터를 읽는다\nint fd = open(path);\n/* 오류가 발생하면 종료한다 */\n",
		"# 사용자 설정\n",
	},
	"russian": {
		"Эта программа является свободным программным обеспечением; вы можете распространять её на условиях лицензии.\n",
		"int x; // количество элементов в списке\n/* возвращает указатель на строку */\n",
		"-- Таблица пользователей\n",
		"# привет\n",
	},
	"western": {
		"Der Schlüssel für die Größe wird übergeben, falls nötig; sonst gilt die Voreinstellung.\n",
		"/* Copyright © 2001 José García */\nint main() { return 0; }\n",
		"// Créé par l'équipe de développement à l'été 1999, révisé en février\n",
		"caf\u00e9\n",
		"Ångström\n",
		"température: 20°\n",
		"el ni\u00f1o comi\u00f3 despu\u00e9s de la funci\u00f3n; \u00bfqu\u00e9 pas\u00f3?\n",
		"it\u2019s \u201cquoted\u201d \u2013 twice\u2026\n",
	},
}

func TestDecodeLegacy(t *testing.T) {
	tests := []struct {
		language, name string
		encoding       encoding.Encoding
	}{
		{"japanese", text.ShiftJIS, japanese.ShiftJIS},
		{"japanese", text.EUCJP, japanese.EUCJP},
		{"simplified", text.GB18030, simplifiedchinese.GBK},
		{"simplified", text.GB18030, simplifiedchinese.GB18030},
		{"traditional", text.Big5, traditionalchinese.Big5},
		{"korean", text.EUCKR, korean.EUCKR},
		{"russian", text.Windows1251, charmap.Windows1251},
		{"russian", text.KOI8R, charmap.KOI8R},
		{"western", text.Windows1252, charmap.Windows1252},
	}
	for _, test := range tests {
		for _, sample := range samples[test.language] {
			for _, padding := range []string{"", strings.Repeat("int x = f(1);\n", 5000)} {
				raw, err := test.encoding.NewEncoder().String(padding + sample)
				if err != nil {
					t.Fatalf("encode %q as %s: %v", sample, test.name, err)
				}
				got, reason := text.Decode([]byte(raw))
				if reason != "" || string(got.Data) != padding+sample || got.Encoding != test.name {
					t.Errorf("%d bytes of ASCII and %q in %s: got %s, %q", len(padding), sample, test.name, got.Encoding, reason)
				}
			}
		}
	}
}

// A stray accent in the head must not decide for the whole file.
func TestDecodeLegacyLooksPastFirstLine(t *testing.T) {
	body := strings.Repeat(samples["japanese"][1], 20)
	raw, err := japanese.ShiftJIS.NewEncoder().String(body)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := text.Decode([]byte("/* \x81\x40 */\n" + raw))
	if got.Encoding != text.ShiftJIS {
		t.Errorf("Japanese after an odd first line: got %s, want %s", got.Encoding, text.ShiftJIS)
	}
}

// What fits no encoding in particular still has its ASCII part searched.
func TestDecodeLegacyFallsBack(t *testing.T) {
	for _, data := range []string{"a\x81b\n", "x = \"\xb7\xb1\xfd\xdd\" // \xff\n", strings.Repeat("long line \xfa", 10000)} {
		got, reason := text.Decode([]byte(data))
		if reason != "" || got.Encoding != text.Windows1252 {
			t.Errorf("Decode(%.30q) = %s, %q; want %s", data, got.Encoding, reason, text.Windows1252)
		}
	}
}
