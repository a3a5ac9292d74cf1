package text

// The characters beyond ASCII that make up a good part of any text in a
// language, and that the same bytes rarely turn into under another encoding.

// frequentJapanese is all kana, the punctuation, and kanji of prose and of
// comments in code.
const frequentJapanese = `
ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽ
まみむめもゃやゅゆょよらりるれろゎわゐゑをん
ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポ
マミムメモャヤュユョヨラリルレロヮワヰヱヲンヴヵヶー
、。「」
日本人年大出中学生国会事時間自分行上下場合手見入方用名前後値文字列数変関定設指処理実取得返使必要場所開始終了次回同新表示`

// frequentSimplified covers half of simplified Chinese text.
const frequentSimplified = `
的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方
多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日者意无力它与长把机第公此已工使情明性知全
三又关点正业外将两高间由问很最重并物应向头文体相见被利什二等产或新制身果加话合回特代内信表化老给世位次度门任常先通教原
提立及比员解名真论处义各入几口条平系气题活更别打变四总何电数安少报结反受目量再建务做接必件计管期市直资命指许统区保
函数据返回设置类型值参字符串错误请如若码线程序输存取键列表版默认配`

// frequentTraditional covers half of traditional Chinese text.
const frequentTraditional = `
的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方
多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前開但因只從想實日者意無力它與長把機第公此已工使情明性知全
三又關點正業外將兩高間由問很最重並物應向頭文體相見被利什二等產或新制身果加話合回特代內信表化老給世位次度門任常先通教原
提立及比員解名真論處義各入幾口條平系氣題活更別打變四總何電數安少報結反受目量再建務做接必件計管期市直資命指許統區保
函數據返回設定類型值參字元串錯誤請若碼線程式輸存取鍵列檔案`

// frequentKorean covers two thirds of Korean syllables in running text.
const frequentKorean = `
이다는을를의에가고하지한로은사도기자어리나인해일아수있대정시부서스그니과들라만보제마상전장주여것와으면게우선적성조원비거
안구공없용오국모경신드입세동미물문중했때된위말무실음되할회히치개당소계방생학연등진유간행내심파저러야더요결관단년건발외까
던바화체명명양통식트설출반법번호습합니값함열변터처경환형`

// frequentCyrillic is the lower-case letters that make up nine tenths of
// Russian. Under the wrong one of its encodings letters change case.
const frequentCyrillic = `оеаинтсрвлкмдпуяыьгзбчйхжшю`

// frequentWestern is what Western European languages and typography put among
// ASCII.
const frequentWestern = `
éèàùâêîôûëïüöäçœßñáíóúãõåøæìòÉÈÀÇÖÄÜØÅÑÁÓÍÚ¿¡ºª©®™°±µ§«»“”‘’‚„–—…•·¶†€£¥¢²³¹½¼¾×÷ÂÊÎÔ´¨¸`
