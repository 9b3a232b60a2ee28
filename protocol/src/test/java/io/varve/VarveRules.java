package io.varve;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The structural rules of the reactor, R2 to R7 of {@code docs/STYLE.md}. Each module's {@code ArchitectureTest} applies to its own classes those that can be judged there; {@code itest} applies
 * all of them to everything.
 */
public final class VarveRules {

    /** Packages whose classes are deterministic: no I/O, thread, clock or chance. */
    private static final String[] PURE = {
        "io.varve.base..", "io.varve.protocol.record..", "io.varve.*.core..", "io.varve.*.model.."
    };

    /** Java's classes that a pure package may name, beside those of {@code java.lang}, {@code java.util} and the like. */
    private static final Set<String> PURE_SINGLE_CLASSES = new TreeSet<>(List.of(
            "java.nio.ByteBuffer",
            "java.nio.ByteOrder",
            "java.nio.Buffer",
            "java.nio.BufferUnderflowException",
            "java.nio.BufferOverflowException",
            "java.nio.charset.StandardCharsets",
            "java.nio.charset.Charset",
            "java.nio.charset.CharacterCodingException",
            "java.nio.charset.CharsetDecoder",
            "java.nio.charset.CodingErrorAction",
            "java.nio.CharBuffer",
            "java.time.Duration",
            "java.util.zip.CRC32C",
            "java.util.zip.Checksum"));

    /** What a pure package may not name although it stands in an allowed package. */
    private static final Set<String> IMPURE_CLASSES = new TreeSet<>(List.of(
            "java.lang.Thread",
            "java.lang.ThreadLocal",
            "java.lang.Runtime",
            "java.lang.Process",
            "java.lang.ProcessBuilder",
            "java.lang.ProcessHandle",
            "java.util.HashMap",
            "java.util.HashSet",
            "java.util.IdentityHashMap",
            "java.util.WeakHashMap",
            "java.util.Random",
            "java.util.UUID",
            "java.util.Timer",
            "java.util.TimerTask",
            "java.util.Date",
            "java.util.Calendar"));

    private static final Set<String> PURE_PACKAGES = new TreeSet<>(List.of(
            "java.lang",
            "java.lang.annotation",
            "java.lang.invoke",
            "java.lang.runtime",
            "java.util",
            "java.util.function",
            "java.util.regex",
            "java.util.stream",
            "org.pcollections"));

    /** Generated messages are values: a replicated core's commands and records. */
    private static final List<String> PURE_PREFIXES = List.of("io.varve.protocol.meta", "com.google.protobuf");

    /** Values and vocabulary that stand beside a port, and that cores implement or speak: immutable, or views of what is. */
    private static final Set<String> PURE_PORT_CLASSES = new TreeSet<>(List.of(
            "io.varve.metadata.api.MetadataView",
            "io.varve.metadata.api.MetadataDelta",
            "io.varve.metadata.api.MetadataException",
            "io.varve.bookie.client.BookieStatus",
            "io.varve.protocol.storage.EntryFormat"));

    /** {@code owner.method} of what reads the clock, the environment, chance or an order that nothing fixes. */
    private static final Set<String> HIDDEN_INPUTS = new TreeSet<>(List.of(
            "java.lang.System.nanoTime",
            "java.lang.System.currentTimeMillis",
            "java.lang.System.identityHashCode",
            "java.lang.System.getenv",
            "java.lang.System.getProperty",
            "java.lang.Math.random",
            "java.util.Set.of",
            "java.util.Set.copyOf",
            "java.util.Map.of",
            "java.util.Map.copyOf",
            "java.util.Map.ofEntries",
            "java.util.Collections.shuffle",
            "java.util.Collection.parallelStream",
            "java.util.stream.Collectors.toSet",
            "java.util.stream.Collectors.toUnmodifiableSet",
            "java.util.stream.Collectors.toMap",
            "java.util.stream.Collectors.toUnmodifiableMap",
            "java.util.stream.Collectors.groupingBy",
            "java.util.stream.Collectors.partitioningBy"));

    /** R3: cores and models name only what can't do I/O, start a thread or read a clock. */
    public static final ArchRule CORES_ARE_PURE = classes()
            .that()
            .resideInAnyPackage(PURE)
            .should()
            .onlyDependOnClassesThat(allowedInCores())
            .because("a core is stepped by tests and simulations, which must control everything it does (R3)")
            .allowEmptyShould(true);

    /** R4: cores read no hidden input. */
    public static final ArchRule CORES_READ_NO_HIDDEN_INPUT = noClasses()
            .that()
            .resideInAnyPackage(PURE)
            .should()
            .accessTargetWhere(isHiddenInput())
            .because("a seed can only reproduce what it controls; take TreeMap, LinkedHashMap, EnumMap or List.of (R4)")
            .allowEmptyShould(true);

    /** R5: no package cycles, at any depth: each package is a slice of its own. */
    public static final ArchRule PACKAGES_ARE_ACYCLIC = slices().assignedFrom(eachPackage())
            .should()
            .beFreeOfCycles()
            .because("what depends on each other can't be read, tested or replaced one by one (R5)")
            .allowEmptyShould(true);

    /** R6: a core works on {@link java.nio.ByteBuffer}s; whose network they came from is none of its business. */
    public static final ArchRule CORES_KNOW_NO_NETTY = noClasses()
            .that()
            .resideInAnyPackage(PURE)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.netty..")
            .because("buffers with reference counts belong to the shells (R6)")
            .allowEmptyShould(true);

    /** R7: a process begins in the command line. */
    public static final ArchRule MAIN_IN_THE_COMMAND_LINE = noMethods()
            .that()
            .haveName("main")
            .and()
            .areStatic()
            .should()
            .beDeclaredInClassesThat()
            .resideOutsideOfPackages("io.varve.cli..")
            .because("a role is started by the command line, or by a test (R7)")
            .allowEmptyShould(true);

    /** R7: tests step a clock, or await with a deadline. */
    public static final ArchRule TESTS_DO_NOT_SLEEP = noClasses()
            .should()
            .callMethodWhere(new DescribedPredicate<>("sleeps") {
                @Override
                public boolean test(com.tngtech.archunit.core.domain.JavaMethodCall call) {
                    String owner = call.getTargetOwner().getName();
                    return call.getName().equals("sleep")
                            && (owner.equals("java.lang.Thread") || owner.equals("java.util.concurrent.TimeUnit"));
                }
            })
            .because("a test that sleeps is slow when it passes and wrong when it fails (R7)")
            .allowEmptyShould(true);

    static {
        // The rules judge names; reading all libraries' classes as well would cost most of the time and change nothing.
        ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    }

    private VarveRules() {}

    /** R2: of each module others name only what it publishes. */
    public static List<ArchRule> publishedPackagesOnly() {
        return List.of(
                onlyPublished("metadata", "api", "model", "client"),
                onlyPublished("tiering", "api", "client"),
                onlyPublished("bookie", "client"),
                onlyPublished("serving", "log"));
    }

    /** R2 for one module. The command line puts the roles together and may name each one's {@code server} and {@code tools}. */
    public static ArchRule onlyPublished(String module, String... published) {
        String own = "io.varve." + module + "..";
        String[] open = java.util.Arrays.stream(published)
                .map(p -> "io.varve." + module + "." + p + "..")
                .toArray(String[]::new);
        DescribedPredicate<JavaClass> internal =
                resideInAPackage(own).and(DescribedPredicate.not(resideInAnyPackage(open)));
        return noClasses()
                .that()
                .resideInAPackage("io.varve..")
                .and()
                .resideOutsideOfPackages(own, "io.varve.cli..")
                .should()
                .dependOnClassesThat(internal.as("are internal to " + module))
                .because("other modules see of " + module + " only " + String.join(", ", published) + " (R2)")
                .allowEmptyShould(true);
    }

    /** R2 for the command line: roles by their {@code server} and {@code tools} packages, everything else as for all. */
    public static ArchRule commandLineSeesServersOnly() {
        DescribedPredicate<JavaClass> internal = resideInAnyPackage(
                        "io.varve.metadata..", "io.varve.tiering..", "io.varve.bookie..", "io.varve.serving..")
                .and(DescribedPredicate.not(resideInAnyPackage(
                        "io.varve.*.api..",
                        "io.varve.*.client..",
                        "io.varve.*.model..",
                        "io.varve.*.server..",
                        "io.varve.*.tools..",
                        "io.varve.*.scrub..")));
        return noClasses()
                .that()
                .resideInAPackage("io.varve.cli..")
                .should()
                .dependOnClassesThat(internal.as("are internal to a role"))
                .because("the command line starts roles and asks their published clients (R2)")
                .allowEmptyShould(true);
    }

    /** R6: each library has its home. */
    public static List<ArchRule> librariesHaveHomes() {
        return List.of(
                home("Apache Ratis", List.of("org.apache.ratis.."), "io.varve.metadata.raft.."),
                home("the AWS SDK", List.of("software.amazon.."), "io.varve.tiering.object.."),
                home(
                        "Caffeine",
                        List.of("com.github.benmanes.caffeine.."),
                        "io.varve.tiering.cache..",
                        "io.varve.serving.cache.."),
                home("LZ4", List.of("net.jpountz.."), "io.varve.tiering.compress.."),
                home("picocli", List.of("picocli.."), "io.varve.cli.."),
                kafkaInternalsHome(),
                kafkaHome(),
                home(
                        "sockets and event loops",
                        List.of("io.netty.channel..", "io.netty.bootstrap.."),
                        "io.varve.protocol.rpc..",
                        "io.varve.serving.net..",
                        "io.varve.serving.kafka.runtime..",
                        "io.varve.serving.partition.."));
    }

    /** R6: a library, named by its packages, is used in its homes alone. */
    public static ArchRule home(String library, List<String> packages, String... homes) {
        return noClasses()
                .that()
                .resideInAPackage("io.varve..")
                .and()
                .resideOutsideOfPackages(homes)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(packages.toArray(String[]::new))
                .because(library + " lives in " + String.join(" and ", homes) + " (R6)")
                .allowEmptyShould(true);
    }

    /** R6: what Kafka does not publish is named in serving's adapter packages alone. */
    private static ArchRule kafkaInternalsHome() {
        return home(
                "Kafka's non-public code",
                List.of(
                        "org.apache.kafka.coordinator..",
                        "org.apache.kafka.image..",
                        "org.apache.kafka.metadata..",
                        "org.apache.kafka.server..",
                        "org.apache.kafka.storage..",
                        "org.apache.kafka.timeline..",
                        "org.apache.kafka.deferred..",
                        "org.apache.kafka.queue..",
                        "org.apache.kafka.raft..",
                        "org.apache.kafka.common.record.internal.."),
                "io.varve.serving.kafka..");
    }

    /** R6: Kafka's messages belong to serving, and its clients to the command line. */
    private static ArchRule kafkaHome() {
        return home("Kafka", List.of("org.apache.kafka.."), "io.varve.serving..", "io.varve.cli..");
    }

    /** What a module's own classes can be judged by. */
    public static void checkModule(JavaClasses main) {
        CORES_ARE_PURE.check(main);
        CORES_READ_NO_HIDDEN_INPUT.check(main);
        CORES_KNOW_NO_NETTY.check(main);
        PACKAGES_ARE_ACYCLIC.check(main);
        librariesHaveHomes().forEach(rule -> rule.check(main));
        MAIN_IN_THE_COMMAND_LINE.check(main);
    }

    /** The classes of a package tree, without tests and without what is in other jars of that tree. */
    public static JavaClasses mainClasses(String... packages) {
        return new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(location -> !location.contains("-tests.jar"))
                .importPackages(packages);
    }

    /** The test classes of a package tree. */
    public static JavaClasses testClasses(String... packages) {
        return new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.ONLY_INCLUDE_TESTS)
                .importPackages(packages);
    }

    private static DescribedPredicate<JavaClass> allowedInCores() {
        DescribedPredicate<JavaClass> ours = resideInAnyPackage(PURE);
        return new DescribedPredicate<>("are pure") {
            @Override
            public boolean test(JavaClass target) {
                JavaClass base = target.getBaseComponentType();
                String name = base.getName();
                String outermost = name.contains("$") ? name.substring(0, name.indexOf('$')) : name;
                String inPackage = base.getPackageName();
                if (base.isPrimitive() || ours.test(base) || PURE_SINGLE_CLASSES.contains(outermost)) {
                    return true;
                }
                if (PURE_PREFIXES.stream().anyMatch(p -> inPackage.equals(p) || inPackage.startsWith(p + "."))) {
                    return true;
                }
                return PURE_PORT_CLASSES.contains(outermost)
                        || PURE_PACKAGES.contains(inPackage) && !IMPURE_CLASSES.contains(outermost);
            }
        };
    }

    private static DescribedPredicate<JavaAccess<?>> isHiddenInput() {
        return new DescribedPredicate<>("is hidden input") {
            @Override
            public boolean test(JavaAccess<?> access) {
                String owner = access.getTargetOwner().getName();
                return HIDDEN_INPUTS.contains(owner + "." + access.getName());
            }
        };
    }

    private static SliceAssignment eachPackage() {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
                String name = javaClass.getPackageName();
                return name.startsWith("io.varve") ? SliceIdentifier.of(name) : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "each package";
            }
        };
    }
}
