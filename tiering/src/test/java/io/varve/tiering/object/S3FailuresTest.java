package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.exception.SdkClientException;

class S3FailuresTest {

    /** S2, S18: it is the keys that are wrong, and a person reads it in one glance. */
    @Test
    void noCredentialsAreToldWithoutTheNamesOfTheSdksClasses() {
        StoreException told = S3Failures.translate(
                "PUT",
                "varve/k",
                SdkClientException.create("Unable to load credentials from any of the providers in the chain"
                        + " AwsCredentialsProviderChain(credentialsProviders=[SystemPropertyCredentialsProvider()]) :"
                        + " [SystemPropertyCredentialsProvider(): Unable to load credentials]"));
        assertThat(told.kind()).isEqualTo(StoreException.Kind.FORBIDDEN);
        assertThat(told)
                .hasMessage(
                        "PUT varve/k: no credentials: none in the environment, in system properties, of a web identity,"
                                + " in profile files, of a container or of an instance");
    }

    /** I-7: a failure of the client that is none of these says nothing of the object. */
    @Test
    void whatTheClientCannotSayIsUnreachable() {
        StoreException told =
                S3Failures.translate("GET", "varve/k", SdkClientException.create("Unable to execute HTTP request"));
        assertThat(told.kind()).isEqualTo(StoreException.Kind.UNREACHABLE);
        assertThat(told).hasMessageContaining("Unable to execute HTTP request");
    }
}
