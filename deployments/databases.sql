CREATE DATABASE prefect OWNER reflect;
