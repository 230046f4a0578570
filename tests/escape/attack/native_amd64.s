#include "textflag.h"

// func int80(nr uint32)
TEXT ·int80(SB), NOSPLIT, $0-4
	MOVL nr+0(FP), AX
	XORL BX, BX
	XORL CX, CX
	XORL DX, DX
	INT  $0x80
	RET

// func jump(address uintptr)
TEXT ·jump(SB), NOSPLIT, $0-8
	MOVQ address+0(FP), AX
	XORL DI, DI
	XORL SI, SI
	XORL DX, DX
	CALL AX
	RET

// func trap()
TEXT ·trap(SB), NOSPLIT, $0-0
	INT $3
	RET

// func illegal()
TEXT ·illegal(SB), NOSPLIT, $0-0
	UNDEF
	RET
