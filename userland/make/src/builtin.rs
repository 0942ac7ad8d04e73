//! Builtin rules and variables.

use std::rc::Rc;

use crate::Make;
use crate::file::Recipe;
use crate::pattern::Pattern;
use crate::rule::PatternRule;
use crate::variable::{Origin, Variable};

/// The suffixes with builtin rules.
pub(crate) const SUFFIXES: &str = ".out .a .ln .o .c .cc .C .cpp .y .l .s .S .h .sh";

/// Recipe variables defined by POSIX and GNU make.
const VARIABLES: &[(&str, &str)] = &[
    ("AR", "ar"),
    ("ARFLAGS", "-rv"),
    ("AS", "as"),
    ("CC", "cc"),
    ("CPP", "$(CC) -E"),
    ("CXX", "g++"),
    ("LD", "ld"),
    ("LEX", "lex"),
    ("RM", "rm -f"),
    ("YACC", "yacc"),
    ("COMPILE.C", "$(COMPILE.cc)"),
    ("COMPILE.S", "$(CC) $(ASFLAGS) $(CPPFLAGS) $(TARGET_MACH) -c"),
    ("COMPILE.c", "$(CC) $(CFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c"),
    ("COMPILE.cc", "$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c"),
    ("COMPILE.cpp", "$(COMPILE.cc)"),
    ("COMPILE.s", "$(AS) $(ASFLAGS) $(TARGET_MACH)"),
    ("LEX.l", "$(LEX) $(LFLAGS) -t"),
    ("LINK.C", "$(LINK.cc)"),
    ("LINK.S", "$(CC) $(ASFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_MACH)"),
    ("LINK.c", "$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.cc", "$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.cpp", "$(LINK.cc)"),
    ("LINK.o", "$(CC) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.s", "$(CC) $(ASFLAGS) $(LDFLAGS) $(TARGET_MACH)"),
    ("OUTPUT_OPTION", "-o $@"),
    ("PREPROCESS.S", "$(CC) -E $(CPPFLAGS)"),
    ("YACC.y", "$(YACC) $(YFLAGS)"),
];

/// Suffix rules: target, prerequisite, recipe lines.
const RULES: &[(&str, &str, &[&str])] = &[
    ("%", "%.o", &["$(LINK.o) $^ $(LOADLIBES) $(LDLIBS) -o $@"]),
    ("%", "%.c", &["$(LINK.c) $^ $(LOADLIBES) $(LDLIBS) -o $@"]),
    ("%.o", "%.c", &["$(COMPILE.c) $(OUTPUT_OPTION) $<"]),
    ("%", "%.cc", &["$(LINK.cc) $^ $(LOADLIBES) $(LDLIBS) -o $@"]),
    ("%.o", "%.cc", &["$(COMPILE.cc) $(OUTPUT_OPTION) $<"]),
    ("%", "%.C", &["$(LINK.C) $^ $(LOADLIBES) $(LDLIBS) -o $@"]),
    ("%.o", "%.C", &["$(COMPILE.C) $(OUTPUT_OPTION) $<"]),
    ("%", "%.cpp", &["$(LINK.cpp) $^ $(LOADLIBES) $(LDLIBS) -o $@"]),
    ("%.o", "%.cpp", &["$(COMPILE.cpp) $(OUTPUT_OPTION) $<"]),
    ("%.c", "%.y", &["$(YACC.y) $<", "mv -f y.tab.c $@"]),
    ("%.c", "%.l", &["@$(RM) $@", "$(LEX.l) $< > $@"]),
    ("%", "%.s", &["$(LINK.s) $^ $(LOADLIBES) $(LDLIBS) -o $@"]),
    ("%.o", "%.s", &["$(COMPILE.s) -o $@ $<"]),
    ("%", "%.S", &["$(LINK.S) $^ $(LOADLIBES) $(LDLIBS) -o $@"]),
    ("%.o", "%.S", &["$(COMPILE.S) -o $@ $<"]),
    ("%.s", "%.c", &["$(COMPILE.c) -S $(OUTPUT_OPTION) $<"]),
    ("%.s", "%.S", &["$(PREPROCESS.S) $< > $@"]),
    ("%", "%.sh", &["cat $< >$@", "chmod a+x $@"]),
];

impl Make {
    /// Defines the builtins before the makefiles are read.
    pub(crate) fn set_builtin_variables(&mut self) {
        let own: &[(&str, &str, bool)] = &[
            ("@D", "$(patsubst %/,%,$(dir $@))", true),
            ("%D", "$(patsubst %/,%,$(dir $%))", true),
            ("*D", "$(patsubst %/,%,$(dir $*))", true),
            ("<D", "$(patsubst %/,%,$(dir $<))", true),
            ("?D", "$(patsubst %/,%,$(dir $?))", true),
            ("^D", "$(patsubst %/,%,$(dir $^))", true),
            ("+D", "$(patsubst %/,%,$(dir $+))", true),
            ("@F", "$(notdir $@)", true),
            ("%F", "$(notdir $%)", true),
            ("*F", "$(notdir $*)", true),
            ("<F", "$(notdir $<)", true),
            ("?F", "$(notdir $?)", true),
            ("^F", "$(notdir $^)", true),
            ("+F", "$(notdir $+)", true),
        ];
        for (name, value, recursive) in own {
            self.set_global(name.as_bytes(), Variable::new(*value, *recursive, Origin::Automatic));
        }
        let set = [
            ("MAKE_VERSION", "4.3"),
            ("MAKE_HOST", "x86_64-pc-linux-gnu"),
            (".SHELLFLAGS", "-c"),
            (
                ".FEATURES",
                "target-specific order-only else-if shortest-stem oneshell \
              nocomment grouped-target extra-prereqs check-symlink",
            ),
            (".RECIPEPREFIX", ""),
        ];
        for (name, value) in set {
            self.set_global(name.as_bytes(), Variable::new(value, false, Origin::Default));
        }
        self.set_global(b"MAKE", Variable::new("$(MAKE_COMMAND)", true, Origin::Default));
        let command = self.command.clone();
        self.set_global(b"MAKE_COMMAND", Variable::new(command, false, Origin::Default));
        self.set_global(b"MAKEFILE_LIST", Variable::new("", false, Origin::File));
        let suffixes = if self.options.no_builtin_rules { "" } else { SUFFIXES };
        self.set_global(b"SUFFIXES", Variable::new(suffixes, false, Origin::Default));
        let mut folders = self.options.include_folders.clone();
        folders.extend([b"/usr/local/include".to_vec(), b"/usr/include".to_vec()]);
        let there = folders.iter().filter(|folder| tidebox_rt::stat(folder, true).is_ok()).map(Vec::as_slice);
        let folders = crate::words::joined(there);
        self.set_global(b".INCLUDE_DIRS", Variable::new(folders, false, Origin::Default));
        if !self.options.no_builtin_variables {
            for (name, value) in VARIABLES {
                self.set_global(name.as_bytes(), Variable::new(*value, true, Origin::Default));
            }
        }
    }

    /// Adds the builtin rules after those of the makefiles.
    pub(crate) fn add_builtin_rules(&mut self) {
        if self.options.no_builtin_rules {
            return;
        }
        for (target, prerequisite, lines) in RULES {
            // A suffix rule is inactive unless its suffix is in `.SUFFIXES`.
            if self.suffixes_cleared {
                return;
            }
            let lines = lines.iter().map(|line| (0, line.as_bytes().to_vec())).collect();
            let rule = PatternRule {
                targets: vec![Pattern::parse(target.as_bytes())],
                prerequisites: vec![(prerequisite.as_bytes().to_vec(), false)],
                recipe: Some(Rc::new(Recipe { location: None, lines })),
                terminal: false,
                in_use: false,
            };
            self.add_pattern_rule(rule, false);
        }
    }
}
