#include "textflag.h"

// EQUAL sets the bytes of out where both bytes stand, at off behind the place CX.
#define EQUAL(off, out, tmp) \
	VPOR     off(SI)(CX*1), Y1, out \
	VPCMPEQB Y0, out, out           \
	VPOR     off(DI)(CX*1), Y3, tmp \
	VPCMPEQB Y2, tmp, tmp           \
	VPAND    tmp, out, out

// func find32(x, y *byte, n int, first, firstMask, second, secondMask byte) (at int, bits uint32)
TEXT ·find32(SB), NOSPLIT, $0-44
	MOVQ         x+0(FP), SI
	MOVQ         y+8(FP), DI
	MOVQ         n+16(FP), DX
	VPBROADCASTB first+24(FP), Y0
	VPBROADCASTB firstMask+25(FP), Y1
	VPBROADCASTB second+26(FP), Y2
	VPBROADCASTB secondMask+27(FP), Y3
	XORQ         CX, CX
	MOVQ         DX, BX
	SUBQ         $128, BX
	JLT          few

	// 128 places at a time, as long as there are as many.
many:
	EQUAL(0, Y4, Y8)
	EQUAL(32, Y5, Y9)
	EQUAL(64, Y6, Y10)
	EQUAL(96, Y7, Y11)
	VPOR   Y4, Y5, Y8
	VPOR   Y6, Y7, Y9
	VPOR   Y8, Y9, Y8
	VPTEST Y8, Y8
	JNZ    which
	ADDQ   $128, CX
	CMPQ   CX, BX
	JLE    many

few:
	CMPQ      CX, DX
	JGE       none
	EQUAL(0, Y4, Y8)
	VPMOVMSKB Y4, AX
	TESTL     AX, AX
	JNZ       found
	ADDQ      $32, CX
	JMP       few

which:
	VPMOVMSKB Y4, AX
	TESTL     AX, AX
	JNZ       found
	ADDQ      $32, CX
	VPMOVMSKB Y5, AX
	TESTL     AX, AX
	JNZ       found
	ADDQ      $32, CX
	VPMOVMSKB Y6, AX
	TESTL     AX, AX
	JNZ       found
	ADDQ      $32, CX
	VPMOVMSKB Y7, AX

found:
	VZEROUPPER
	MOVQ CX, at+32(FP)
	MOVL AX, bits+40(FP)
	RET

none:
	VZEROUPPER
	MOVQ DX, at+32(FP)
	MOVL $0, bits+40(FP)
	RET
