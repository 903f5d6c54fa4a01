# SPDX-License-Identifier: Apache-2.0
# ak: see README.md. Targets: all check check-integration check-vm lint bench weak install uninstall format clean
PROFILE ?= release
PREFIX ?= /usr/local
DESTDIR ?=
B := build/$(PROFILE)
VERSION := 0.1.0

CC = gcc
MUSL_CC ?= musl-gcc
PKG_CONFIG ?= pkg-config
ARCH := $(shell uname -m)
comma := ,
ifeq ($(V),)
  Q := @
endif
comma := ,

# --- flags -----------------------------------------------------------------------------------------------------------
try = $(shell echo 'int main(void){return 0;}' | $(1) -Werror $(2) -x c - -o /dev/null >/dev/null 2>&1 && echo '$(2)')
# the same for an option of the linker that the program's own start code must know
try_run = $(shell d=$$(mktemp -d) && echo 'int x, *p = &x; int main(void){return p != &x;}' | $(1) $(2) -x c - -o $$d/a 2>/dev/null && \
	$$d/a && echo '$(2)'; rm -rf "$$d")
HARDEN_TRY := -fstack-protector-strong -fstack-clash-protection -fcf-protection -ftrivial-auto-var-init=zero \
	-fno-strict-overflow -fno-delete-null-pointer-checks
WARN := -Wall -Wextra -Wformat=2 -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wundef -Wvla \
	-Wwrite-strings -Wno-missing-field-initializers -Werror=implicit-function-declaration -Werror=return-type
BASE := -std=c17 -D_GNU_SOURCE -I. -DAK_VERSION='"$(VERSION)"' $(WARN)

ifeq ($(PROFILE),release)
  OPT := -O2 -g1 -D_FORTIFY_SOURCE=2 $(foreach f,$(HARDEN_TRY),$(call try,$(CC),$(f)))
  # relocations as a bit map: a start reads 1 kB of them and not 78, where linker and libc know it
  LINK := -static-pie -Wl,-z,relro,-z,now,-z,noexecstack $(call try_run,$(CC) -static-pie -fPIE,-Wl$(comma)-z$(comma)pack-relative-relocs)
  PIC := -fPIE
else ifeq ($(PROFILE),weak)
  # the release build with switches that take protections away: tests use it to show that they notice
  OPT := -O2 -g1 -DAK_TEST_WEAKEN
  LINK := -static-pie
  PIC := -fPIE
else ifeq ($(PROFILE),asan)
  OPT := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
  LINK := -fsanitize=address,undefined
else ifeq ($(PROFILE),fuzz)
  CC = clang
  OPT := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
  LINK := -fsanitize=address,undefined
else
  $(error PROFILE is release, weak, asan or fuzz)
endif
POLICY_LINK := $(if $(filter release weak,$(PROFILE)),-pie -Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now,$(LINK))
CFLAGS ?=
ALL_CFLAGS = $(BASE) $(OPT) $(PIC) $(CFLAGS)

ifeq ($(filter $(PROFILE),release weak),)
  STATIC :=
else
  STATIC := --static
endif
EXEC_LIBS = $(shell $(PKG_CONFIG) $(STATIC) --libs libcap libnl-3.0 libmd)
EXEC_CFLAGS = $(shell $(PKG_CONFIG) --cflags libcap libnl-3.0 libmd)

# ak-agent: dynamic, since it links libcurl; never part of ak
AGENT_LIBS = $(shell $(PKG_CONFIG) --libs libcurl libcjson libutf8proc libpcre2-8 libcrypto libedit)
AGENT_CFLAGS = $(shell $(PKG_CONFIG) --cflags libcurl libcjson libutf8proc libpcre2-8 libcrypto libedit)
AGENT_LINK := $(if $(filter release weak,$(PROFILE)),-pie -Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now$(comma)-z$(comma)noexecstack,$(LINK))

INIT_CFLAGS := -std=c17 -D_GNU_SOURCE -I. $(WARN) $(if $(filter weak,$(PROFILE)),-Oz,-Os) -g0 -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections \
	-idirafter /usr/include -idirafter /usr/include/$(ARCH)-linux-gnu $(if $(filter weak,$(PROFILE)),-DAK_TEST_WEAKEN)
# no relro: nothing would apply it in a static musl program that is not PIE, and its data is one page so
INIT_LINK := -static -Wl,--gc-sections -Wl,-z,noexecstack -Wl,-z,noseparate-code,-z,norelro -s

# --- sources ---------------------------------------------------------------------------------------------------------
SHARED_SRC := $(wildcard executor/shared/*.c)
EXEC_SRC := $(filter-out executor/main.c,$(wildcard executor/*.c executor/ns/*.c executor/workspace/*.c)) $(SHARED_SRC) $(wildcard lib/*.c) \
	seccomp/filters.c seccomp/observe.c
EXEC_SRC += $(wildcard executor/docker/*.c executor/local/*.c)
# init of one command, which is copied for every `ak exec`, and the one that serves a sandbox that stays
INIT_SRC := $(addprefix executor/init/,confine.c exec.c interp.c main.c msg.c plain.c pty.c serve.c spawn.c) executor/shared/ak_wire.c \
	executor/shared/ak_init_proto.c executor/shared/ak_tree.c
INIT_SERVE_SRC := $(filter-out executor/init/connect.c,$(wildcard executor/init/*.c)) executor/shared/ak_wire.c executor/shared/ak_tree.c $(wildcard executor/shared/ak_init_*.c)
# and the one that serves where docker or nothing holds the commands
INIT_HELD_SRC := executor/init/connect.c $(filter-out executor/init/learn.c,$(INIT_SERVE_SRC))
# what a program that uses the library includes
LIB_HEADERS := $(addprefix executor/shared/,ak_err.h ak_msg.h ak_proto.h)
LIB_SRC := $(wildcard lib/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(SHARED_SRC:%.c=$(B)/%.o)
CLIENT := $(patsubst tests/client/%.c,$(B)/client/%,$(wildcard tests/client/*.c))
AGENT_SRC := $(filter-out agent/main.c,$(wildcard agent/*.c agent/provider/*.c agent/shell/*.c agent/tools/*.c agent/cli/*.c)) $(SHARED_SRC) $(LIB_SRC)
SEARCH_SRC := $(wildcard agent/search/*.c) $(addprefix executor/shared/,ak_buf.c ak_err.c ak_fd.c ak_json_out.c ak_path.c)
SEARCH_OBJ := $(SEARCH_SRC:%.c=$(B)/%.o)
SEARCH_LIBS = $(shell $(PKG_CONFIG) $(STATIC) --libs libpcre2-8)
UNIT := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
ESCAPE := $(patsubst tests/escape/%.c,$(B)/escape/%,$(wildcard tests/escape/*.c))
# tests that include a header of the agent's are linked with it and not with the executor
AGENT_TESTS := $(basename $(notdir $(shell grep -l '^#include "agent/' tests/unit/*.c tests/fuzz/*.c tests/integration/*.c tests/bench/*.c \
	2>/dev/null)))
AGENT_UNIT := $(filter $(AGENT_TESTS:%=$(B)/unit/%),$(UNIT))
AGENT_FUZZ := $(filter $(AGENT_TESTS:%=$(B)/fuzz/%),$(FUZZ))
AGENT_BENCH := $(patsubst tests/bench/%.c,$(B)/bench/%,$(shell grep -l '^#include "agent/' tests/bench/*.c))
AGENT_OBJ := $(AGENT_SRC:%.c=$(B)/%.o) $(B)/agent/prices_blob.o
ITOOLS := $(patsubst tests/integration/%.c,$(B)/integration/%,$(wildcard tests/integration/*.c))
EXEC_OBJ := $(EXEC_SRC:%.c=$(B)/%.o) $(B)/seccomp/filters_gen.o $(B)/init_blob.o

.PHONY: all check check-integration check-vm vmtool check-boundary corpus lint bench weak install uninstall format clean escape fuzz itools serve client unit
.SECONDARY:
.DELETE_ON_ERROR:

all: $(B)/ak $(B)/ak-policy $(B)/ak-agent $(B)/ak-search $(B)/libak.a

GLIBC_236 := $(shell printf '\043include <features.h>\n\043if __GLIBC_PREREQ(2, 36)\n-DAK_CLOSE_BRK\n\043endif\n' | $(CC) -E -P - 2>/dev/null | tail -n 1)
# where ak begins, and how it is laid out, which is about time only
AK_START := $(if $(filter release weak,$(PROFILE)),$(if $(filter x86_64 aarch64,$(ARCH)),$(B)/executor/entry.o))

$(B)/ak: $(B)/executor/main.o $(EXEC_OBJ) $(AK_START) executor/start.ld
	$(Q)echo '  LD    $@'; $(CC) $(ALL_CFLAGS) $(LINK) $(if $(AK_START),-Wl$(comma)-e$(comma)ak_entry -Wl$(comma)-T$(comma)executor/start.ld) -o $@ \
		$(filter %.o,$^) $(EXEC_LIBS)

$(B)/executor/entry.o: executor/entry.S
	@mkdir -p $(@D)
	$(Q)echo '  AS    $<'; $(CC) $(PIC) $(GLIBC_236) -c -o $@ $<

$(B)/ak-agent: $(B)/agent/main.o $(AGENT_OBJ)
	$(Q)echo '  LD    $@'; $(CC) $(ALL_CFLAGS) $(AGENT_LINK) -o $@ $^ $(AGENT_LIBS)

# ak-search runs inside sandboxes, in any root file system: static, and nothing of the agent's but its own folder
$(B)/ak-search: $(SEARCH_OBJ)
	$(Q)echo '  LD    $@'; $(CC) $(ALL_CFLAGS) $(LINK) -o $@ $^ $(SEARCH_LIBS)

$(B)/agent/%.o: agent/%.c
	@mkdir -p $(@D)
	$(Q)echo '  CC    $<'; $(CC) $(ALL_CFLAGS) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<
# the client library: what a program needs to drive an executor, and nothing of the executor itself
$(B)/libak.a: $(LIB_OBJ)
	@rm -f $@
	$(Q)echo '  AR    $@'; ar rcs $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)echo '  CC    $<'; $(CC) $(ALL_CFLAGS) $(EXEC_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/seccomp/filters_gen.o: $(B)/seccomp/filters_gen.c
	$(Q)echo '  CC    $<'; $(CC) $(ALL_CFLAGS) -c -o $@ $<

# --- ak-init: static musl, started from a sealed memfd, so it is carried inside ak ------------------------------------
INIT_HDR := $(wildcard executor/init/*.h executor/shared/*.h executor/ns/kabi.h)
$(B)/ak-init: $(INIT_SRC) $(INIT_HDR)
	@mkdir -p $(@D)
	$(Q)echo '  INIT  $@'; $(MUSL_CC) $(INIT_CFLAGS) $(INIT_LINK) -o $@ $(INIT_SRC)
	@test "$$(stat -c %s $@)" -lt 65536 || { echo "ak-init is over 64 kB" >&2; exit 1; }

$(B)/ak-init-serve: $(INIT_SERVE_SRC) $(INIT_HDR)
	@mkdir -p $(@D)
	$(Q)echo '  INIT  $@'; $(MUSL_CC) $(INIT_CFLAGS) -DAK_INIT_SERVE $(INIT_LINK) -o $@ $(INIT_SERVE_SRC)
	@test "$$(stat -c %s $@)" -lt 65536 || { echo "ak-init-serve is over 64 kB" >&2; exit 1; }

$(B)/ak-init-held: $(INIT_HELD_SRC) $(INIT_HDR)
	@mkdir -p $(@D)
	$(Q)echo '  INIT  $@'; $(MUSL_CC) $(INIT_CFLAGS) -DAK_INIT_SERVE -DAK_INIT_HELD $(INIT_LINK) -o $@ $(INIT_HELD_SRC)
	@test "$$(stat -c %s $@)" -lt 65536 || { echo "ak-init-held is over 64 kB" >&2; exit 1; }

$(B)/init_blob.o: executor/init_blob.S $(B)/ak-init $(B)/ak-init-serve $(B)/ak-init-held
	$(Q)echo '  AS    $<'; $(CC) -DINIT_PATH='"$(B)/ak-init"' -DSERVE_PATH='"$(B)/ak-init-serve"' -DHELD_PATH='"$(B)/ak-init-held"' $(PIC) -c -o $@ $<

# the price table is carried inside ak-agent
$(B)/agent/prices_blob.o: agent/prices_blob.S agent/prices.json
	@mkdir -p $(@D)
	$(Q)echo '  AS    $<'; $(CC) $(PIC) -c -o $@ $<

# --- seccomp: profiles and floor to BPF at build time -----------------------------------------------------------------
BUILD_TOOL_CFLAGS := -std=c17 -D_GNU_SOURCE -I. $(WARN) -O1 -g
$(B)/seccomp/compile: $(wildcard seccomp/compile*.c seccomp/*.h)
	@mkdir -p $(@D)
	$(Q)echo '  TOOL  $@'; gcc $(BUILD_TOOL_CFLAGS) $$($(PKG_CONFIG) --cflags libseccomp libcjson) -o $@ $(wildcard seccomp/compile*.c) $$($(PKG_CONFIG) --libs libseccomp libcjson)

$(B)/seccomp/filters_gen.c: $(B)/seccomp/compile $(wildcard seccomp/profiles/*.json)
	$(Q)echo '  GEN   $@'; $(B)/seccomp/compile $(ARCH) seccomp/profiles $@

# --- ak-policy: the reader of what users write in JSON; a program of its own, so that the executor parses none ------------
POLICY_SRC := $(wildcard seccomp/policy*.c seccomp/docker*.c seccomp/json_read.c seccomp/gitident.c seccomp/gitkeys.c) seccomp/compile_build.c seccomp/compile_dag.c \
	seccomp/compile_layout.c seccomp/compile_nr.c executor/shared/ak_filter_file.c executor/shared/ak_wire.c executor/shared/ak_fd.c \
	executor/shared/ak_config_file.c executor/shared/ak_config_keys.c executor/shared/ak_config_provider.c executor/shared/ak_parse.c \
	executor/shared/ak_git_ident.c
POLICY_OBJ := $(POLICY_SRC:%.c=$(B)/policy/%.o) $(B)/policy/shipped.o
POLICY_LIBS = $(shell $(PKG_CONFIG) --libs libseccomp)
$(B)/policy/%.o: %.c
	@mkdir -p $(@D)
	$(Q)echo '  CC    $<'; $(CC) $(ALL_CFLAGS) $(shell $(PKG_CONFIG) --cflags libseccomp) -MMD -MP -c -o $@ $<
$(B)/policy/shipped.o: seccomp/policy_shipped.S $(wildcard seccomp/profiles/*.json)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PIC) -c -o $@ $<
$(B)/ak-policy: $(POLICY_OBJ)
	$(Q)echo '  LD    $@'; $(CC) $(ALL_CFLAGS) $(POLICY_LINK) -o $@ $^ $(POLICY_LIBS)

# the other architecture's filters: linked by their test only
OTHER_ARCH := $(if $(filter aarch64,$(ARCH)),x86_64,aarch64)
$(B)/seccomp/filters_other.c: $(B)/seccomp/compile $(wildcard seccomp/profiles/*.json)
	$(Q)echo '  GEN   $@'; $(B)/seccomp/compile $(OTHER_ARCH) seccomp/profiles $@ seccomp_other
$(B)/seccomp/filters_other.o: $(B)/seccomp/filters_other.c
	$(Q)echo '  CC    $<'; $(CC) $(ALL_CFLAGS) -c -o $@ $<
$(B)/unit/test_seccomp: $(B)/seccomp/filters_other.o
$(B)/unit/test_seccomp: TEST_LIBS += $(B)/seccomp/filters_other.o

# --- tests -----------------------------------------------------------------------------------------------------------
TEST_CFLAGS = $(shell $(PKG_CONFIG) --cflags check)
TEST_LIBS = $(shell $(PKG_CONFIG) --libs check)
TEST_LINK = $(if $(filter asan fuzz,$(PROFILE)),$(LINK),-pie)

$(AGENT_UNIT): $(B)/unit/%: tests/unit/%.c $(AGENT_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  TEST  $@'; $(CC) $(ALL_CFLAGS) $(AGENT_CFLAGS) $(TEST_CFLAGS) -o $@ $< $(AGENT_OBJ) $(TEST_LINK) $(AGENT_LIBS) $(TEST_LIBS)

$(filter-out $(AGENT_UNIT),$(UNIT)): $(B)/unit/%: tests/unit/%.c $(EXEC_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  TEST  $@'; $(CC) $(ALL_CFLAGS) $(EXEC_CFLAGS) $(TEST_CFLAGS) -o $@ $< $(EXEC_OBJ) $(TEST_LINK) $(shell $(PKG_CONFIG) --libs libcap libnl-3.0 libmd) $(TEST_LIBS)

# the parts of ak-policy that its tests link; the rest comes with the executor's
POLICY_TEST_OBJ := $(filter-out $(B)/policy/executor/% $(B)/policy/seccomp/policy_main.o $(B)/policy/shipped.o,$(POLICY_OBJ))
$(B)/unit/test_policy_json $(B)/unit/test_policy_docker $(B)/unit/test_policy_config $(B)/unit/test_gitkeys $(B)/unit/test_gitident: $(POLICY_TEST_OBJ)
$(B)/unit/test_policy_json $(B)/unit/test_policy_docker $(B)/unit/test_policy_config $(B)/unit/test_gitkeys $(B)/unit/test_gitident: TEST_LIBS += $(POLICY_TEST_OBJ) $(POLICY_LIBS)
$(B)/fuzz/fuzz_policy_json $(B)/fuzz/fuzz_policy_docker $(B)/fuzz/fuzz_policy_config $(B)/fuzz/fuzz_gitkeys $(B)/fuzz/fuzz_gitident: $(POLICY_TEST_OBJ)
$(B)/fuzz/fuzz_policy_json $(B)/fuzz/fuzz_policy_docker $(B)/fuzz/fuzz_policy_config $(B)/fuzz/fuzz_gitkeys $(B)/fuzz/fuzz_gitident: FUZZ_LIBS = $(POLICY_TEST_OBJ) $(POLICY_LIBS)

# what ak-search decides with
SEARCH_PURE := $(B)/agent/search/glob.o $(B)/agent/search/ignore.o
$(B)/fuzz/fuzz_ignore: $(SEARCH_PURE)
$(B)/fuzz/fuzz_ignore: AGENT_FUZZ_OBJ := $(SEARCH_PURE)

# fuzz targets: with PROFILE=fuzz under libFuzzer, otherwise with a driver that replays files
ifeq ($(PROFILE),fuzz)
$(AGENT_FUZZ): $(B)/fuzz/%: tests/fuzz/%.c $(AGENT_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  FUZZ  $@'; $(CC) $(ALL_CFLAGS) $(AGENT_CFLAGS) -o $@ $< $(AGENT_OBJ) $(AGENT_FUZZ_OBJ) -fsanitize=fuzzer,address,undefined $(AGENT_LIBS)

$(filter-out $(AGENT_FUZZ),$(FUZZ)): $(B)/fuzz/%: tests/fuzz/%.c $(EXEC_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  FUZZ  $@'; $(CC) $(ALL_CFLAGS) -o $@ $< $(EXEC_OBJ) -fsanitize=fuzzer,address,undefined $(shell $(PKG_CONFIG) --libs libcap libnl-3.0 libmd) $(FUZZ_LIBS)
else
$(AGENT_FUZZ): $(B)/fuzz/%: tests/fuzz/%.c tests/fuzz/replay_main.c $(AGENT_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  FUZZ  $@'; $(CC) $(ALL_CFLAGS) $(AGENT_CFLAGS) -o $@ $< tests/fuzz/replay_main.c $(AGENT_OBJ) $(AGENT_FUZZ_OBJ) $(TEST_LINK) $(AGENT_LIBS)

$(filter-out $(AGENT_FUZZ),$(FUZZ)): $(B)/fuzz/%: tests/fuzz/%.c tests/fuzz/replay_main.c $(EXEC_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  FUZZ  $@'; $(CC) $(ALL_CFLAGS) -o $@ $< tests/fuzz/replay_main.c $(EXEC_OBJ) $(TEST_LINK) $(shell $(PKG_CONFIG) --libs libcap libnl-3.0 libmd) $(FUZZ_LIBS)
endif

# clients of the agent's modules for the integration suites
$(B)/integration/%: tests/integration/%.c $(AGENT_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  TEST  $@'; $(CC) $(ALL_CFLAGS) $(AGENT_CFLAGS) -o $@ $< $(AGENT_OBJ) $(TEST_LINK) $(AGENT_LIBS)

# programs that try to break out: static, so that they run in any root file system
$(B)/escape/%: tests/escape/%.c $(wildcard tests/escape/*.h)
	@mkdir -p $(@D)
	$(Q)echo '  ESC   $@'; gcc -std=c17 -D_GNU_SOURCE -I. $(WARN) -O1 -static -pthread -o $@ $<

$(B)/bench/%: tests/bench/%.c $(EXEC_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  BENCH $@'; $(CC) $(ALL_CFLAGS) $(LINK) -o $@ $< $(EXEC_OBJ) $(EXEC_LIBS) 2>/dev/null

# programs that drive ak-init in serve mode: static, as the suites copy them
SERVE := $(patsubst tests/serve/%.c,$(B)/serve/%,$(filter-out tests/serve/drv.c,$(wildcard tests/serve/*.c)))
$(B)/serve/%: tests/serve/%.c tests/serve/drv.c tests/serve/drv.h $(EXEC_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  TEST  $@'; $(CC) $(ALL_CFLAGS) $(EXEC_CFLAGS) -o $@ $< tests/serve/drv.c $(EXEC_OBJ) $(LINK) $(EXEC_LIBS) 2>&1 | \
		grep -vE 'statically linked|in function|^$$' || test -x $@

serve: $(SERVE)
# programs that drive a serving executor through the client library: static, as the suites copy them
$(B)/client/%: tests/client/%.c $(wildcard tests/client/*.h) $(B)/libak.a
	@mkdir -p $(@D)
	$(Q)echo '  TEST  $@'; $(CC) $(ALL_CFLAGS) -o $@ $< $(B)/libak.a $(if $(filter asan fuzz,$(PROFILE)),$(LINK),-static-pie)

client: $(CLIENT)
unit: $(UNIT)
fuzz: $(FUZZ)
escape: $(ESCAPE)
itools: $(ITOOLS)

check: all $(UNIT) $(FUZZ)
	scripts/check-boundary.sh
	tests/run-unit.sh $(B)

check-integration: all weak escape itools serve client
	tests/run-integration.sh

# the emulated machine of tests/vm: limits with a real cgroup v2 tree, and what must not touch the host. Needs root
check-vm: all weak escape vmtool
	tests/vm/check-vm.sh

vmtool: build/vm/vmtool
build/vm/vmtool: tests/vm/vmtool.c
	@mkdir -p $(@D)
	$(Q)echo '  VM    $@'; $(MUSL_CC) -std=c17 -D_GNU_SOURCE $(WARN) -O1 -static -pthread -o $@ $<

weak:
	$(MAKE) PROFILE=weak all serve itools

lint:
	scripts/lint.sh

$(AGENT_BENCH): $(B)/bench/%: tests/bench/%.c $(AGENT_OBJ)
	@mkdir -p $(@D)
	$(Q)echo '  BENCH $@'; $(CC) $(ALL_CFLAGS) $(AGENT_CFLAGS) -o $@ $< $(AGENT_OBJ) $(TEST_LINK) $(AGENT_LIBS)

bench: all client $(AGENT_BENCH)
	for b in $(AGENT_BENCH); do $$b || exit 1; done
	tests/bench/bench.sh $(B)/ak
	tests/bench/turn.sh $(B)/ak
	tests/bench/agent_memory.sh $(B)/ak 200 12288

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man3 \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig $(addprefix $(DESTDIR)$(PREFIX)/include/ak/,lib executor/shared) \
		$(DESTDIR)$(PREFIX)/libexec/ak
	install -m 755 $(B)/ak $(DESTDIR)$(PREFIX)/bin/ak
	install -m 755 $(B)/ak-policy $(DESTDIR)$(PREFIX)/libexec/ak/ak-policy
	install -m 755 $(B)/ak-agent $(DESTDIR)$(PREFIX)/libexec/ak/ak-agent
	install -m 755 $(B)/ak-search $(DESTDIR)$(PREFIX)/libexec/ak/ak-search
	install -m 644 docs/man/ak.1 $(DESTDIR)$(PREFIX)/share/man/man1/ak.1
	install -m 644 docs/man/ak.3 $(DESTDIR)$(PREFIX)/share/man/man3/ak.3
	install -m 644 $(B)/libak.a $(DESTDIR)$(PREFIX)/lib/libak.a
	install -m 644 lib/libak.h $(DESTDIR)$(PREFIX)/include/ak/lib/libak.h
	install -m 644 $(LIB_HEADERS) $(DESTDIR)$(PREFIX)/include/ak/executor/shared
	echo '#include "lib/libak.h"' >$(DESTDIR)$(PREFIX)/include/ak/libak.h
	printf 'prefix=%s\nName: libak\nDescription: client of the ak executor\nVersion: %s\nCflags: -I$${prefix}/include/ak\nLibs: -L$${prefix}/lib -lak\n' \
		'$(PREFIX)' '$(VERSION)' >$(DESTDIR)$(PREFIX)/lib/pkgconfig/libak.pc

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/libexec/ak/ak-policy $(DESTDIR)$(PREFIX)/libexec/ak/ak-agent $(DESTDIR)$(PREFIX)/libexec/ak/ak-search $(DESTDIR)$(PREFIX)/bin/ak \
		$(DESTDIR)$(PREFIX)/share/man/man1/ak.1
	-rmdir $(DESTDIR)$(PREFIX)/libexec/ak 2>/dev/null
	rm -f $(DESTDIR)$(PREFIX)/bin/ak $(DESTDIR)$(PREFIX)/share/man/man1/ak.1 $(DESTDIR)$(PREFIX)/share/man/man3/ak.3 \
		$(DESTDIR)$(PREFIX)/lib/libak.a $(DESTDIR)$(PREFIX)/lib/pkgconfig/libak.pc
	rm -rf $(DESTDIR)$(PREFIX)/include/ak

clean:
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
