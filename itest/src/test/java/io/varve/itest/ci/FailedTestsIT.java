package io.varve.itest.ci;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code .ci/failed}: what is told, at the end of a run, of each test that failed. */
class FailedTestsIT {

    private static final Path SCRIPT =
            Path.of("..", ".ci", "failed").toAbsolutePath().normalize();

    private static final String REPORT = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuite name="io.varve.WaterIT" tests="4" errors="1" skipped="1" failures="2">
              <testcase name="flows" classname="io.varve.WaterIT" time="1.482"/>
              <testcase name="isWet" classname="io.varve.WaterIT" time="1.482">
                <failure message="&#10;Expecting actual:&#10;  &quot;7 &lt; 8 &amp; &amp;lt;&quot;&#10;" type="java.lang.AssertionError"><![CDATA[java.lang.AssertionError:
            	at io.varve.WaterIT.isWet(WaterIT.java:7)
            ]]></failure>
                <system-out><![CDATA[no failure of <error message="anybody"]]></system-out>
              </testcase>
              <testcase name="isFrozen" classname="io.varve.WaterIT" time="0">
                <skipped message="it is summer"/>
              </testcase>
              <testcase name="isLong" classname="io.varve.WaterIT" time="0.1">
                <failure message="LONG" type="java.lang.AssertionError"><![CDATA[java.lang.AssertionError: LONG
            ]]></failure>
              </testcase>
              <testcase name="" classname="io.varve.WaterIT" time="0">
                <error type="java.lang.NullPointerException"><![CDATA[java.lang.NullPointerException
            	at io.varve.WaterIT.fill(WaterIT.java:3)
            	at io.varve.WaterIT.beforeAll(WaterIT.java:1)
            ]]></error>
              </testcase>
            </testsuite>
            """;

    @TempDir
    Path directory;

    @Test
    void ofEachTestThatFailedItsNameAndTheBeginningOfItsMessageAreTold() throws Exception {
        String longMessage = "drop ".repeat(1_000);
        Path report = Files.writeString(
                directory.resolve("TEST-io.varve.WaterIT.xml"), REPORT.replace("LONG", longMessage.strip()));
        assertThat(run(report)).isEqualTo("""
                        FAILED io.varve.WaterIT.isWet: Expecting actual:
                          "7 < 8 & &lt;"
                        FAILED io.varve.WaterIT.isLong: %s […]
                        FAILED io.varve.WaterIT: java.lang.NullPointerException
                        	at io.varve.WaterIT.fill(WaterIT.java:3)
                        """.formatted(longMessage.substring(0, 600)));
    }

    @Test
    void ofARunWithoutFailuresNothingIsTold() throws Exception {
        Path report = Files.writeString(directory.resolve("TEST-io.varve.WaterTest.xml"), """
                <testsuite name="io.varve.WaterTest" tests="1" errors="0" skipped="0" failures="0">
                  <testcase name="flows" classname="io.varve.WaterTest" time="1.482"/>
                </testsuite>
                """);
        assertThat(run(report)).isEmpty();
    }

    private String run(Path report) throws Exception {
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(SCRIPT.toString(), report.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            return Files.readString(output, StandardCharsets.UTF_8);
        } finally {
            process.destroyForcibly();
        }
    }
}
