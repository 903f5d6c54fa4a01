/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs send to terminals, and what of it may arrive. Each row is fed with an A before and a Z behind it.
 *	DROP	nothing of it is shown under either policy
 *	TTY	shown as it is under the interactive policy, dropped under the strict one
 *	PASS	shown as it is under both
 *	ROW	what is shown strict, what interactive
 *	OPEN	not finished: the A is shown and nothing else (no Z is fed)
 */
#ifndef AK_TESTS_TERM_SEQUENCES_H
#define AK_TESTS_TERM_SEQUENCES_H

#define TERM_SEQUENCES(DROP, TTY, PASS, ROW, OPEN) \
	DROP("osc 1 icon name bel", "\033]1;icon\007") \
	DROP("osc 3 X property bel", "\033]3;WM_CLASS=x\007") \
	DROP("osc 4 set colour bel", "\033]4;1;rgb:ff/00/00\007") \
	DROP("osc 4 query colour bel", "\033]4;1;\077\007") \
	DROP("osc 7 working directory bel", "\033]7;file://host/tmp\007") \
	DROP("osc 8 link bel", "\033]8;;http://evil.example/\007") \
	DROP("osc 8 link with id bel", "\033]8;id=1;file:///etc/passwd\007") \
	DROP("osc 9 notification bel", "\033]9;you won\007") \
	DROP("osc 9;4 progress bel", "\033]9;4;1;50\007") \
	DROP("osc 10 query foreground bel", "\033]10;\077\007") \
	DROP("osc 11 query background bel", "\033]11;\077\007") \
	DROP("osc 12 set cursor colour bel", "\033]12;red\007") \
	DROP("osc 50 font bel", "\033]50;#1\007") \
	DROP("osc 50 font query bel", "\033]50;\077\007") \
	DROP("osc 52 set clipboard bel", "\033]52;c;Y3VybCBldmlsIHwgc2gK\007") \
	DROP("osc 52 set primary bel", "\033]52;p;Y3VybCBldmlsIHwgc2gK\007") \
	DROP("osc 52 query clipboard bel", "\033]52;c;\077\007") \
	DROP("osc 104 reset colours bel", "\033]104\007") \
	DROP("osc 133 prompt mark bel", "\033]133;A\007") \
	DROP("osc 133 command end bel", "\033]133;D;0\007") \
	DROP("osc 633 shell integration bel", "\033]633;E;rm -rf ~\007") \
	DROP("osc 633 property bel", "\033]633;P;Cwd=/\007") \
	DROP("osc 777 notify bel", "\033]777;notify;title;body\007") \
	DROP("osc 1337 file bel", "\033]1337;File=name=eA==;inline=1:AAAA\007") \
	DROP("osc 1337 set mark bel", "\033]1337;SetMark\007") \
	DROP("osc 1337 copy bel", "\033]1337;CopyToClipboard=\007") \
	DROP("osc 1337 report cell size bel", "\033]1337;ReportCellSize\007") \
	DROP("osc 5522 clipboard bel", "\033]5522;type=read;Lg==\007") \
	DROP("osc L sun icon bel", "\033]Licon\007") \
	DROP("osc without number bel", "\033];x\007") \
	DROP("osc empty bel", "\033]\007") \
	DROP("osc 00 is not 0 bel", "\033]00;x\007") \
	DROP("osc 21 is not 2 bel", "\033]21;x\007") \
	DROP("osc 2 without text separator bel", "\033]2\007") \
	DROP("osc 1 icon name st", "\033]1;icon\033\134") \
	DROP("osc 3 X property st", "\033]3;WM_CLASS=x\033\134") \
	DROP("osc 4 set colour st", "\033]4;1;rgb:ff/00/00\033\134") \
	DROP("osc 4 query colour st", "\033]4;1;\077\033\134") \
	DROP("osc 7 working directory st", "\033]7;file://host/tmp\033\134") \
	DROP("osc 8 link st", "\033]8;;http://evil.example/\033\134") \
	DROP("osc 8 link with id st", "\033]8;id=1;file:///etc/passwd\033\134") \
	DROP("osc 9 notification st", "\033]9;you won\033\134") \
	DROP("osc 9;4 progress st", "\033]9;4;1;50\033\134") \
	DROP("osc 10 query foreground st", "\033]10;\077\033\134") \
	DROP("osc 11 query background st", "\033]11;\077\033\134") \
	DROP("osc 12 set cursor colour st", "\033]12;red\033\134") \
	DROP("osc 50 font st", "\033]50;#1\033\134") \
	DROP("osc 50 font query st", "\033]50;\077\033\134") \
	DROP("osc 52 set clipboard st", "\033]52;c;Y3VybCBldmlsIHwgc2gK\033\134") \
	DROP("osc 52 set primary st", "\033]52;p;Y3VybCBldmlsIHwgc2gK\033\134") \
	DROP("osc 52 query clipboard st", "\033]52;c;\077\033\134") \
	DROP("osc 104 reset colours st", "\033]104\033\134") \
	DROP("osc 133 prompt mark st", "\033]133;A\033\134") \
	DROP("osc 133 command end st", "\033]133;D;0\033\134") \
	DROP("osc 633 shell integration st", "\033]633;E;rm -rf ~\033\134") \
	DROP("osc 633 property st", "\033]633;P;Cwd=/\033\134") \
	DROP("osc 777 notify st", "\033]777;notify;title;body\033\134") \
	DROP("osc 1337 file st", "\033]1337;File=name=eA==;inline=1:AAAA\033\134") \
	DROP("osc 1337 set mark st", "\033]1337;SetMark\033\134") \
	DROP("osc 1337 copy st", "\033]1337;CopyToClipboard=\033\134") \
	DROP("osc 1337 report cell size st", "\033]1337;ReportCellSize\033\134") \
	DROP("osc 5522 clipboard st", "\033]5522;type=read;Lg==\033\134") \
	DROP("osc L sun icon st", "\033]Licon\033\134") \
	DROP("osc without number st", "\033];x\033\134") \
	DROP("osc empty st", "\033]\033\134") \
	DROP("osc 00 is not 0 st", "\033]00;x\033\134") \
	DROP("osc 21 is not 2 st", "\033]21;x\033\134") \
	DROP("osc 2 without text separator st", "\033]2\033\134") \
	DROP("osc 0 title one byte too long", \
	     "\033]0;ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	     "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	     "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	     "tttttttttttttttttttttt\007") \
	DROP("osc 2 ended by CAN", "\033]2;x\030") \
	DROP("osc 2 ended by SUB", "\033]2;x\032") \
	DROP("csi device attributes c", "\033[c") \
	DROP("csi device attributes 0 0c", "\033[0c") \
	DROP("csi secondary attributes >c", "\033[>c") \
	DROP("csi secondary attributes 0 >0c", "\033[>0c") \
	DROP("csi tertiary attributes =c", "\033[=c") \
	DROP("csi device status 5n", "\033[5n") \
	DROP("csi cursor position 6n", "\033[6n") \
	DROP("csi private cursor position ?6n", "\033[\0776n") \
	DROP("csi printer status ?15n", "\033[\07715n") \
	DROP("csi UDK status ?25n", "\033[\07725n") \
	DROP("csi keyboard status ?26n", "\033[\07726n") \
	DROP("csi locator status ?55n", "\033[\07755n") \
	DROP("csi colour scheme query ?996n", "\033[\077996n") \
	DROP("csi title report 21t", "\033[21t") \
	DROP("csi icon report 20t", "\033[20t") \
	DROP("csi window state 11t", "\033[11t") \
	DROP("csi window position 13t", "\033[13t") \
	DROP("csi window size in pixels 14t", "\033[14t") \
	DROP("csi screen size 15t", "\033[15t") \
	DROP("csi cell size 16t", "\033[16t") \
	DROP("csi text size 18t", "\033[18t") \
	DROP("csi screen size in cells 19t", "\033[19t") \
	DROP("csi de-iconify 1t", "\033[1t") \
	DROP("csi iconify 2t", "\033[2t") \
	DROP("csi move window 3;0;0t", "\033[3;0;0t") \
	DROP("csi resize window 8;500;500t", "\033[8;500;500t") \
	DROP("csi push title 22;0t", "\033[22;0t") \
	DROP("csi pop title 23;0t", "\033[23;0t") \
	DROP("csi title modes >2t", "\033[>2t") \
	DROP("csi terminal parameters x", "\033[x") \
	DROP("csi terminal parameters 1 1x", "\033[1x") \
	DROP("csi mode query 4$p", "\033[4$p") \
	DROP("csi private mode query ?2026$p", "\033[\0772026$p") \
	DROP("csi version >q", "\033[>q") \
	DROP("csi version 0 >0q", "\033[>0q") \
	DROP("csi checksum of screen 1;1;1;1;10;1", "\033[1;1;1;1;10;10*y") \
	DROP("csi print screen i", "\033[i") \
	DROP("csi print to file 5i", "\033[5i") \
	DROP("csi private print ?5i", "\033[\0775i") \
	DROP("csi kitty keyboard query ?u", "\033[\077u") \
	DROP("csi kitty keyboard push >1u", "\033[>1u") \
	DROP("csi kitty keyboard pop <u", "\033[<u") \
	DROP("csi kitty keyboard set =1;1u", "\033[=1;1u") \
	DROP("csi modify other keys >4;2m", "\033[>4;2m") \
	DROP("csi modify keys query ?4m", "\033[\0774m") \
	DROP("csi pointer mode >2p", "\033[>2p") \
	DROP("csi graphics query ?1;1;0S", "\033[\0771;1;0S") \
	DROP("csi highlight mouse tracking 1;1;1;1;1T", "\033[1;1;1;1;1T") \
	DROP("csi conformance level 62\"p", "\033[62\042p") \
	DROP("csi protected characters 1\"q", "\033[1\042q") \
	DROP("csi locator reporting 1;1'z", "\033[1;1'z") \
	DROP("csi locator request '|", "\033['|") \
	DROP("csi left and right margins 1;40s", "\033[1;40s") \
	DROP("csi load LEDs 1q", "\033[1q") \
	DROP("csi save private modes ?1049s", "\033[\0771049s") \
	DROP("csi restore private modes ?1049r", "\033[\0771049r") \
	DROP("csi selective erase ?2J", "\033[\0772J") \
	DROP("csi fill rectangle 88;1;1;9;9$x", "\033[88;1;1;9;9$x") \
	DROP("csi copy rectangle 1;1;2;2;1;3;", "\033[1;1;2;2;1;3;3;1$v") \
	DROP("csi media copy off 4i", "\033[4i") \
	DROP("csi assign colour 1;2,|", "\033[1;2,|") \
	DROP("csi window ops with colon 21:0t", "\033[21:0t") \
	DROP("csi repeat too often 999999999b", "\033[999999999b") \
	DROP("csi cursor too far 10000C", "\033[10000C") \
	DROP("csi sgr number too large 99999m", "\033[99999m") \
	DROP("csi unknown final ~", "\033[~") \
	DROP("csi two intermediates 1 !p", "\033[1 !p") \
	DROP("csi marker in the middle 1?25h", "\033[1\07725h") \
	DROP("csi two markers ??25h", "\033[\077\07725h") \
	DROP("csi 32 column mode ?3h", "\033[\0773h") \
	DROP("csi newline mode 20h", "\033[20h") \
	DROP("csi keyboard lock 2h", "\033[2h") \
	DROP("csi sixel scrolling mode ?80h", "\033[\07780h") \
	DROP("csi win32 input mode ?9001h", "\033[\0779001h") \
	DROP("csi theme reports ?2031h", "\033[\0772031h") \
	DROP("csi in-band resize ?2048h", "\033[\0772048h") \
	DROP("csi size change allowed ?40h", "\033[\07740h") \
	DROP("csi mode without number ?h", "\033[\077h") \
	DROP("csi meta key mode ?1034h", "\033[\0771034h") \
	DROP("csi urgency on bell ?1042h", "\033[\0771042h") \
	DROP("csi sgr with intermediate 1 m", "\033[1 m") \
	DROP("csi colon in a cursor move 1:2H", "\033[1:2H") \
	DROP("csi over-long 1;1;1;1;1;1;", \
	     "\033[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;m") \
	DROP("csi over-long without parameters 000000000000", \
	     "\033[000000000000000000000000000000000000000000000000000000000000000000000000000" \
	     "00000000000000000000000000000000000000000000000000000000000000000000000000000000" \
	     "00000000000000000000000000000000000000000000000000000000000000000000000000000000" \
	     "00000000000000000000000000000000000000000000000000000000000000000H") \
	DROP("csi too many parameters 1;1;1;1;1;1;", \
	     "\033[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;m") \
	DROP("esc full reset", "\033c") \
	DROP("esc identify", "\033Z") \
	DROP("esc single shift 2", "\033N") \
	DROP("esc single shift 3", "\033O") \
	DROP("esc locking shift", "\033n") \
	DROP("esc locking shift 3R", "\033|") \
	DROP("esc memory lock", "\033l") \
	DROP("esc memory unlock", "\033m") \
	DROP("esc 8-bit controls", "\033 G") \
	DROP("esc 7-bit controls", "\033 F") \
	DROP("esc align test", "\033#8") \
	DROP("esc double height", "\033#3") \
	DROP("esc utf-8 off", "\033%@") \
	DROP("esc utf-8 on", "\033%G") \
	DROP("esc 96 set", "\033-A") \
	DROP("esc unknown charset", "\033(K") \
	DROP("esc two-byte charset", "\033$(B") \
	DROP("esc media copy", "\033[i") \
	DROP("esc string end alone", "\033\134") \
	DROP("esc guarded", "\033V") \
	DROP("esc back index", "\0336") \
	DROP("esc tmux title", "\033kname\033\134") \
	DROP("esc long intermediates", \
	     "\033                                                                            " \
	     "                                                                                " \
	     "                                                                                " \
	     "                                                                0") \
	DROP("dcs sixel", "\033P0;0;0q\0421;1;8;8#0;2;0;0;0#0~~@@vv@@~~$-\012#1!8~\033\134") \
	DROP("dcs XTGETTCAP", "\033P+q544e\033\134") \
	DROP("dcs XTSETTCAP", "\033P+p544e=78\033\134") \
	DROP("dcs DECRQSS", "\033P$qm\033\134") \
	DROP("dcs DECUDK", "\033P0;1|17/69640a\033\134") \
	DROP("dcs ReGIS", "\033PpS(E)\033\134") \
	DROP("dcs soft font", "\033P1;1;1{ @~\033\134") \
	DROP("dcs synchronised", "\033P=1s\033\134") \
	DROP("dcs tmux passthrough", "\033Ptmux;\033\033]52;c;QUJD\007\033\134") \
	DROP("dcs tmux control mode", "\033P1000p\033\134") \
	DROP("dcs screen passthrough", "\033P\033]52;c;QUJD\007\033\134") \
	DROP("dcs iterm tmux", "\033P2000p\033\134") \
	DROP("apc kitty graphics", "\033_Ga=T,f=100,t=f;L2V0Yy9wYXNzd2Q=\033\134") \
	DROP("apc kitty query", "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\134") \
	DROP("apc kitty file", "\033_Gt=f,a=T;L2V0Yy9zaGFkb3c=\033\134") \
	DROP("apc kitty command", "\033_@kitty-cmd{\042cmd\042:\042ls\042}\033\134") \
	DROP("pm", "\033^private\033\134") \
	DROP("sos", "\033Xstring\033\134") \
	DROP("dcs ended by bel", "\033Px\007") \
	DROP("dcs ended by can", "\033Px\030") \
	DROP("control 00", "\000") \
	DROP("control 01", "\001") \
	DROP("control 02", "\002") \
	DROP("control 03", "\003") \
	DROP("control 04", "\004") \
	DROP("control 05", "\005") \
	DROP("control 06", "\006") \
	DROP("control 0b", "\013") \
	DROP("control 0c", "\014") \
	DROP("control 10", "\020") \
	DROP("control 11", "\021") \
	DROP("control 12", "\022") \
	DROP("control 13", "\023") \
	DROP("control 14", "\024") \
	DROP("control 15", "\025") \
	DROP("control 16", "\026") \
	DROP("control 17", "\027") \
	DROP("control 18", "\030") \
	DROP("control 19", "\031") \
	DROP("control 1a", "\032") \
	DROP("control 1c", "\034") \
	DROP("control 1d", "\035") \
	DROP("control 1e", "\036") \
	DROP("control 1f", "\037") \
	DROP("control 7f", "\177") \
	DROP("nul in text", "\000\000\000") \
	TTY("csi insert characters 3@", "\033[3@") \
	TTY("csi up A", "\033[A") \
	TTY("csi up 5 5A", "\033[5A") \
	TTY("csi down 2B", "\033[2B") \
	TTY("csi right 10C", "\033[10C") \
	TTY("csi left D", "\033[D") \
	TTY("csi next line E", "\033[E") \
	TTY("csi previous line F", "\033[F") \
	TTY("csi column 10G", "\033[10G") \
	TTY("csi home H", "\033[H") \
	TTY("csi position 24;80H", "\033[24;80H") \
	TTY("csi tab forward I", "\033[I") \
	TTY("csi tab back 2Z", "\033[2Z") \
	TTY("csi erase screen 2J", "\033[2J") \
	TTY("csi erase scrollback 3J", "\033[3J") \
	TTY("csi erase below J", "\033[J") \
	TTY("csi erase line K", "\033[K") \
	TTY("csi erase to start 1K", "\033[1K") \
	TTY("csi erase characters 4X", "\033[4X") \
	TTY("csi insert lines L", "\033[L") \
	TTY("csi delete lines 2M", "\033[2M") \
	TTY("csi delete characters P", "\033[P") \
	TTY("csi scroll up S", "\033[S") \
	TTY("csi scroll down 3T", "\033[3T") \
	TTY("csi column absolute 5`", "\033[5`") \
	TTY("csi right absolute 2a", "\033[2a") \
	TTY("csi row 7d", "\033[7d") \
	TTY("csi down relative 2e", "\033[2e") \
	TTY("csi position f 1;1f", "\033[1;1f") \
	TTY("csi repeat 79b", "\033[79b") \
	TTY("csi clear tab g", "\033[g") \
	TTY("csi clear tabs 3g", "\033[3g") \
	TTY("csi scroll region 1;24r", "\033[1;24r") \
	TTY("csi scroll region reset r", "\033[r") \
	TTY("csi save cursor s", "\033[s") \
	TTY("csi restore cursor u", "\033[u") \
	TTY("csi cursor style 2 q", "\033[2 q") \
	TTY("csi soft reset !p", "\033[!p") \
	TTY("csi largest number 9999C", "\033[9999C") \
	TTY("csi application cursor ?1h", "\033[\0771h") \
	TTY("csi wrap off ?7l", "\033[\0777l") \
	TTY("csi cursor off ?25l", "\033[\07725l") \
	TTY("csi cursor on ?25h", "\033[\07725h") \
	TTY("csi alternate screen ?1049h", "\033[\0771049h") \
	TTY("csi alternate screen off ?1049l", "\033[\0771049l") \
	TTY("csi old alternate screen ?47h", "\033[\07747h") \
	TTY("csi mouse ?1000h", "\033[\0771000h") \
	TTY("csi mouse drag ?1002h", "\033[\0771002h") \
	TTY("csi mouse motion ?1003h", "\033[\0771003h") \
	TTY("csi mouse sgr ?1006h", "\033[\0771006h") \
	TTY("csi focus ?1004h", "\033[\0771004h") \
	TTY("csi bracketed paste ?2004h", "\033[\0772004h") \
	TTY("csi synchronised ?2026h", "\033[\0772026h") \
	TTY("csi insert mode 4h", "\033[4h") \
	TTY("csi insert mode off 4l", "\033[4l") \
	TTY("esc save", "\0337") \
	TTY("esc restore", "\0338") \
	TTY("esc index", "\033D") \
	TTY("esc next line", "\033E") \
	TTY("esc tab stop", "\033H") \
	TTY("esc reverse index", "\033M") \
	TTY("esc keypad", "\033=") \
	TTY("esc keypad off", "\033>") \
	TTY("esc charset line", "\033(0") \
	TTY("esc charset ascii", "\033(B") \
	TTY("esc charset uk", "\033(A") \
	TTY("esc G1 line", "\033)0") \
	TTY("bell", "\007") \
	PASS("sgr reset", "\033[m") \
	PASS("sgr reset 0", "\033[0m") \
	PASS("sgr red", "\033[31m") \
	PASS("sgr bold red on blue", "\033[1;31;44m") \
	PASS("sgr 256", "\033[38;5;208m") \
	PASS("sgr rgb", "\033[38;2;1;2;3m") \
	PASS("sgr rgb colon", "\033[38:2::1:2:3m") \
	PASS("sgr underline colour", "\033[58;5;1m") \
	PASS("sgr curly", "\033[4:3m") \
	PASS("sgr conceal", "\033[8m") \
	PASS("sgr empty params", "\033[;;m") \
	PASS("text", "plain text 123 ~!") \
	PASS("whitespace", "a\011b\012c\015d\010e") \
	PASS("UTF-8", "h\303\251\302\240\342\234\223\360\237\230\200\357\277\277\364\217\277\277") \
	PASS("UTF-8 with bytes that look like C1", "\333\233\332\220\331\233") \
	ROW("osc 0 title bel", "\033]0;make all\007", "", "\033]0;make all\007") \
	ROW("osc 2 title bel", "\033]2;vim\007", "", "\033]2;vim\007") \
	ROW("osc 2 empty title bel", "\033]2;\007", "", "\033]2;\007") \
	ROW("osc 2 title with controls bel", "\033]2;a\012b\001c\177d\007", "", "\033]2;abcd\007") \
	ROW("osc 2 title with 8-bit controls bel", "\033]2;a\233b\302\235c\007", "", "\033]2;abc\007") \
	ROW("osc 2 title with UTF-8 bel", \
	     "\033]2;h\303\251 \342\234\223\007", \
	     "", \
	     "\033]2;h\303\251 \342\234\223\007") \
	ROW("osc 2 title with broken UTF-8 bel", "\033]2;a\342\202b\377c\007", "", "\033]2;abc\007") \
	ROW("osc 0 title st", "\033]0;make all\033\134", "", "\033]0;make all\007") \
	ROW("osc 2 title st", "\033]2;vim\033\134", "", "\033]2;vim\007") \
	ROW("osc 2 empty title st", "\033]2;\033\134", "", "\033]2;\007") \
	ROW("osc 2 title with controls st", "\033]2;a\012b\001c\177d\033\134", "", "\033]2;abcd\007") \
	ROW("osc 2 title with 8-bit controls st", "\033]2;a\233b\302\235c\033\134", "", "\033]2;abc\007") \
	ROW("osc 2 title with UTF-8 st", \
	     "\033]2;h\303\251 \342\234\223\033\134", \
	     "", \
	     "\033]2;h\303\251 \342\234\223\007") \
	ROW("osc 2 title with broken UTF-8 st", "\033]2;a\342\202b\377c\033\134", "", "\033]2;abc\007") \
	ROW("osc 0 title of the largest size", \
	     "\033]0;ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	     "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	     "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	     "ttttttttttttttttttttt\007", \
	     "", \
	     "\033]0;ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	     "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	     "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	     "ttttttttttttttttttttt\007") \
	ROW("osc 52 cut off by a colour", "\033]52;c;QUJD\033[31m", "\033[31m", "\033[31m") \
	ROW("osc 2 cut off by ESC c", "\033]2;abc\033c", "", "") \
	ROW("shift out and in", "\016a\017", "a", "\016a\017") \
	ROW("csi two modes", "\033[\0771002;1006h", "", "\033[\0771002h\033[\0771006h") \
	ROW("csi allowed and other mode", "\033[\0773;25;9001l", "", "\033[\07725l") \
	ROW("dcs with osc inside", "\033Pa\033]0;t\007", "", "\033]0;t\007") \
	ROW("raw c1 80", "\200", "", "") \
	ROW("utf-8 c1 80", "\302\200", "", "") \
	ROW("raw c1 81", "\201", "", "") \
	ROW("utf-8 c1 81", "\302\201", "", "") \
	ROW("raw c1 82", "\202", "", "") \
	ROW("utf-8 c1 82", "\302\202", "", "") \
	ROW("raw c1 83", "\203", "", "") \
	ROW("utf-8 c1 83", "\302\203", "", "") \
	ROW("raw c1 84", "\204", "", "") \
	ROW("utf-8 c1 84", "\302\204", "", "") \
	ROW("raw c1 85", "\205", "", "") \
	ROW("utf-8 c1 85", "\302\205", "", "") \
	ROW("raw c1 86", "\206", "", "") \
	ROW("utf-8 c1 86", "\302\206", "", "") \
	ROW("raw c1 87", "\207", "", "") \
	ROW("utf-8 c1 87", "\302\207", "", "") \
	ROW("raw c1 88", "\210", "", "") \
	ROW("utf-8 c1 88", "\302\210", "", "") \
	ROW("raw c1 89", "\211", "", "") \
	ROW("utf-8 c1 89", "\302\211", "", "") \
	ROW("raw c1 8a", "\212", "", "") \
	ROW("utf-8 c1 8a", "\302\212", "", "") \
	ROW("raw c1 8b", "\213", "", "") \
	ROW("utf-8 c1 8b", "\302\213", "", "") \
	ROW("raw c1 8c", "\214", "", "") \
	ROW("utf-8 c1 8c", "\302\214", "", "") \
	ROW("raw c1 8d", "\215", "", "") \
	ROW("utf-8 c1 8d", "\302\215", "", "") \
	ROW("raw c1 8e", "\216", "", "") \
	ROW("utf-8 c1 8e", "\302\216", "", "") \
	ROW("raw c1 8f", "\217", "", "") \
	ROW("utf-8 c1 8f", "\302\217", "", "") \
	ROW("raw c1 90", "\220", "", "") \
	ROW("utf-8 c1 90", "\302\220", "", "") \
	ROW("raw c1 91", "\221", "", "") \
	ROW("utf-8 c1 91", "\302\221", "", "") \
	ROW("raw c1 92", "\222", "", "") \
	ROW("utf-8 c1 92", "\302\222", "", "") \
	ROW("raw c1 93", "\223", "", "") \
	ROW("utf-8 c1 93", "\302\223", "", "") \
	ROW("raw c1 94", "\224", "", "") \
	ROW("utf-8 c1 94", "\302\224", "", "") \
	ROW("raw c1 95", "\225", "", "") \
	ROW("utf-8 c1 95", "\302\225", "", "") \
	ROW("raw c1 96", "\226", "", "") \
	ROW("utf-8 c1 96", "\302\226", "", "") \
	ROW("raw c1 97", "\227", "", "") \
	ROW("utf-8 c1 97", "\302\227", "", "") \
	ROW("raw c1 98", "\230", "", "") \
	ROW("utf-8 c1 98", "\302\230", "", "") \
	ROW("raw c1 99", "\231", "", "") \
	ROW("utf-8 c1 99", "\302\231", "", "") \
	ROW("raw c1 9a", "\232", "", "") \
	ROW("utf-8 c1 9a", "\302\232", "", "") \
	ROW("raw c1 9b", "\233", "", "") \
	ROW("utf-8 c1 9b", "\302\233", "", "") \
	ROW("raw c1 9c", "\234", "", "") \
	ROW("utf-8 c1 9c", "\302\234", "", "") \
	ROW("raw c1 9d", "\235", "", "") \
	ROW("utf-8 c1 9d", "\302\235", "", "") \
	ROW("raw c1 9e", "\236", "", "") \
	ROW("utf-8 c1 9e", "\302\236", "", "") \
	ROW("raw c1 9f", "\237", "", "") \
	ROW("utf-8 c1 9f", "\302\237", "", "") \
	ROW("raw c1 csi clears nothing", "\2332J", "2J", "2J") \
	ROW("utf-8 c1 osc", "\302\23552;c;QUJD\007", "52;c;QUJD", "52;c;QUJD\007") \
	ROW("lone continuation", "\240\277", "\357\277\275\357\277\275", "\357\277\275\357\277\275") \
	ROW("over-long slash", "\300\257", "\357\277\275\357\277\275", "\357\277\275\357\277\275") \
	ROW("over-long escape", "\340\200\233", "\357\277\275", "\357\277\275") \
	ROW("surrogate", "\355\240\200", "\357\277\275\357\277\275", "\357\277\275\357\277\275") \
	ROW("beyond unicode", "\364\220\200\200", "\357\277\275", "\357\277\275") \
	ROW("five-byte form", "\370\210\200\200\200", "\357\277\275", "\357\277\275") \
	ROW("cut character", "\342\202", "\357\277\275", "\357\277\275") \
	ROW("cut by colour", "\342\202\033[1m", "\357\277\275\033[1m", "\357\277\275\033[1m") \
	ROW("fe ff", "\376\377", "\357\277\275\357\277\275", "\357\277\275\357\277\275") \
	ROW("csi cut by newline", "\033[31\012", "\012", "\012") \
	ROW("csi cut by utf-8", "\033[3\303\251", "\303\251", "\303\251") \
	ROW("csi cut by raw c1", "\033[3\233", "", "") \
	ROW("csi restarted", "\033[3\033[1m", "\033[1m", "\033[1m") \
	ROW("esc esc csi", "\033\033[1m", "\033[1m", "\033[1m") \
	ROW("esc newline", "\033\012", "\012", "\012") \
	ROW("esc del", "\033\177", "", "") \
	ROW("csi del", "\033[\177m", "m", "m") \
	ROW("esc c1", "\033\233", "", "") \
	ROW("sgr split by nul", "\033[3\0001m", "1m", "1m") \
	OPEN("unterminated esc", "\033") \
	OPEN("unterminated csi", "\033[") \
	OPEN("unterminated csi params", "\033[31;4") \
	OPEN("unterminated osc", "\033]") \
	OPEN("unterminated osc 0", "\033]0;title") \
	OPEN("unterminated osc 52", "\033]52;c;Y3VybCBldmlsIHwgc2gK") \
	OPEN("unterminated dcs", "\033Pq#0~~") \
	OPEN("unterminated apc", "\033_Gf=1;AAAA") \
	OPEN("unterminated pm", "\033^x") \
	OPEN("unterminated sos", "\033Xx") \
	OPEN("unterminated osc then esc", "\033]0;x\033") \
	OPEN("unterminated dcs then esc", "\033Px\033") \
	OPEN("unterminated esc intermediate", "\033(") \
	OPEN("unterminated csi over-long", \
	     "\033[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1" \
	     ";1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;") \
	OPEN("unterminated tmux", "\033Ptmux;\033") \
	OPEN("unterminated title k", "\033kname") \
	/* end */

#endif
